package org.udckpt.process.feature;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.udckpt.linux.MountThread;

/** Where the native artifacts are, in the shape of native/target/cmake. */
record Installation(Path root) {
    static Installation built() {
        String property = System.getProperty("udckpt.native");
        if (property == null) {
            throw new IllegalStateException("udckpt.native is not set: run the tests through Maven");
        }
        MountThread.library(Path.of(property, "libudckpt-agent.so"));
        return new Installation(Path.of(property));
    }

    Path shepherd() {
        return root.resolve("udckpt-shepherd");
    }

    Path library() {
        return root.resolve("libudckpt.so");
    }

    Path programs() {
        return root.resolve("features");
    }

    Path program(String name) {
        return programs().resolve(name);
    }

    /** A stand-alone library (no UDCKPT_RUNTIME_DIR): it gives the injection its code and leaves the rest alone. */
    List<String> environment() {
        return List.of("PATH=/usr/bin:/bin", "LANG=C", "LD_PRELOAD=" + library());
    }

    /** A copy that other users can read and execute. */
    Installation copyTo(Path target) throws IOException {
        Files.createDirectories(target.resolve("features"));
        Files.copy(shepherd(), target.resolve("udckpt-shepherd"));
        Files.copy(library(), target.resolve("libudckpt.so"));
        Files.copy(root.resolve("libudckpt-agent.so"), target.resolve("libudckpt-agent.so"));
        try (Stream<Path> files = Files.list(programs())) {
            for (Path file : files.toList()) {
                Files.copy(file, target.resolve("features").resolve(file.getFileName().toString()));
            }
        }
        return new Installation(target);
    }
}
