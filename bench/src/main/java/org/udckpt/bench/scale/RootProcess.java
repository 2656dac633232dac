package org.udckpt.bench.scale;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** {@link CoordinatorMemory} in a JVM of its own, with the flags of this one and a small heap. */
final class RootProcess {
    private static final String HEAP = "-Xmx768m";

    private RootProcess() {}

    /** @return what it prints, by name */
    static Map<String, Long> measure(Pattern pattern, int fanOut, Path directory)
            throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> flag.startsWith("--") || flag.equals("-XX:+UseSerialGC")).forEach(command::add);
        command.addAll(List.of(HEAP, "-cp", System.getProperty("java.class.path"), CoordinatorMemory.class.getName(),
                Integer.toString(pattern.ranks()),
                Integer.toString(pattern.perNode()), Integer.toString(pattern.pairs()), Integer.toString(fanOut),
                directory.toString()));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        Map<String, Long> values = new HashMap<>();
        try (BufferedReader lines = process.inputReader()) {
            lines.lines().map(line -> line.split(" ")).forEach(words -> values.put(words[0], Long.parseLong(words[1])));
        } finally {
            process.destroy();
        }
        if (process.waitFor() != 0) {
            throw new IOException("the root's process ended with " + process.exitValue());
        }
        return values;
    }
}
