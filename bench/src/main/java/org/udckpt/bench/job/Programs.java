package org.udckpt.bench.job;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Programs as a shell finds them. */
public final class Programs {
    private Programs() {}

    public static boolean isThere(String program) {
        if (program.contains("/")) {
            return Files.isExecutable(Path.of(program));
        }
        return Arrays.stream(System.getenv().getOrDefault("PATH", "/usr/bin:/bin").split(":"))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
    }
}
