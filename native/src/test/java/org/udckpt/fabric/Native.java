package org.udckpt.fabric;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs native programs over the preloaded library, and ends them whatever happens. */
final class Native {
    private static final Path BUILD = Path.of(System.getProperty("udckpt.native"));

    /** What a finished program left behind. */
    record Result(int exit, String out, String err) {
        @Override
        public String toString() {
            return "exit " + exit + "\n" + out + err;
        }
    }

    /** A started program with its output in files, so that nobody has to read along. */
    record Running(Process process, Path out, Path err) implements AutoCloseable {
        /** Waits at most {@code seconds}; exit code 124 and a dead process after that. */
        Result await(int seconds) throws IOException, InterruptedException {
            boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
            if (!ended)
                process.destroyForcibly().waitFor();
            return new Result(ended ? process.exitValue() : 124, Files.readString(out, StandardCharsets.ISO_8859_1),
                    Files.readString(err, StandardCharsets.ISO_8859_1));
        }

        @Override
        public void close() throws IOException {
            process.destroyForcibly();
            Files.deleteIfExists(out);
            Files.deleteIfExists(err);
        }
    }

    private Native() {}

    static Path library() {
        return BUILD.resolve("libudckpt.so");
    }

    static Path program(String name) {
        return BUILD.resolve("tests").resolve(name);
    }

    /** Starts a command over the bare soft fabric with more environment. */
    static Running start(Map<String, String> environment, List<String> command) throws IOException {
        Path out = Files.createTempFile("fabric", ".out"), err = Files.createTempFile("fabric", ".err");
        ProcessBuilder builder = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("UDCKPT_"));
        builder.environment().putAll(Map.of("LD_PRELOAD", library().toString(), "UDCKPT_VIRTUALIZE", "0"));
        builder.environment().putAll(environment);
        return new Running(builder.start(), out, err);
    }

    static Result run(Map<String, String> environment, String... command) throws IOException, InterruptedException {
        try (Running running = start(environment, List.of(command))) {
            return running.await(60);
        }
    }
}
