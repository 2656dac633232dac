package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The library and its test programs once more, with a sanitizer in them: -DUDCKPT_SANITIZE of native/CMakeLists.txt.
 */
public enum SanitizedBuild {
    THREAD("thread", "thread"),
    ADDRESS("address", "address,undefined");

    private static final int BUILD_SECONDS = 600;
    private static final List<String> TARGETS =
            List.of("ud_client", "rc_client", "fabric_send", "fabric_receive", "fabric_state", "fabric_events",
                    "fabric_threads", "fabric_rc", "fabric_rc_errors", "fabric_rc_threads", "fabric_uc", "fabric_xrc",
                    "fabric_windows", "fabric_order", "fabric_tags", "fabric_mutations");

    private final Path directory;
    private final String sanitizers;
    private boolean built;

    SanitizedBuild(String name, String sanitizers) {
        directory = Path.of(System.getProperty("udckpt.native")).resolveSibling("cmake-" + name);
        this.sanitizers = sanitizers;
    }

    /** What a process of the sanitized programs has in its environment, besides what it is tested with. */
    public static Map<String, String> environment() {
        String options = "exitcode=66:halt_on_error=1"; // at the first finding: its text is the last that is said
        return Map.of("LD_PRELOAD", "", "TSAN_OPTIONS", options, "UBSAN_OPTIONS", "print_stacktrace=1",
                // a program that ends keeps its verbs objects, as programs do
                "ASAN_OPTIONS", "exitcode=66:detect_leaks=0");
    }

    /** The build directory, up to date. */
    public synchronized Path directory() throws IOException, InterruptedException {
        if (!built) {
            Path root = Path.of(System.getProperty("udckpt.root"));
            run(List.of("cmake", "-S", root.resolve("native").toString(), "-B", directory.toString(),
                    "-DUDCKPT_SANITIZE=" + sanitizers,
                    "-DJAVA=" + System.getProperty("java.home") + "/bin/java"));
            List<String> build = new ArrayList<>(List.of("cmake", "--build", directory.toString(), "-j2", "--target"));
            build.addAll(TARGETS);
            if (this == ADDRESS) {
                build.add("fuzz_targets");
            }
            run(build);
            built = true;
        }
        return directory;
    }

    static void run(List<String> command) throws IOException, InterruptedException {
        Path log = Files.createTempFile("sanitized", ".log");
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
            try {
                boolean ended = process.waitFor(BUILD_SECONDS, TimeUnit.SECONDS);
                assertEquals(0, ended ? process.exitValue() : 124, () -> command + "\n" + read(log));
            } finally {
                process.destroyForcibly();
            }
        } finally {
            Files.delete(log);
        }
    }

    private static String read(Path log) {
        try {
            return Files.readString(log, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
