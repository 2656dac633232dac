package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/** The cases of native/src/test/c/soft-fabric/fabric_*.c once more, in programs that a sanitizer watches. */
@Tag("slow")
@Timeout(900) // the first one builds
class SanitizedFabricTest {
    private static final ExecutorService TWO =
            Executors.newFixedThreadPool(2, task -> Thread.ofPlatform().daemon().unstarted(task));

    /**
     * One queue pair, and several, used by several threads at once, datagrams and connections: bare, on the fused path
     * and on the generic one.
     */
    @TestFactory
    Stream<DynamicTest> threads() throws Exception {
        return Stream
                .of(Map.of("UDCKPT_VIRTUALIZE", "0"), Map.of("UDCKPT_DATA_PATH", "fused"),
                        Map.of("UDCKPT_DATA_PATH", "generic"))
                .flatMap(way -> Stream.of("fabric_threads", "fabric_rc_threads", "fabric_order")
                        .flatMap(program -> cases(SanitizedBuild.THREAD, program, way)));
    }

    /** Lost packets are sent again by the device's own thread, beside the program's threads. */
    @TestFactory
    Stream<DynamicTest> threadsOverABadNetwork() throws Exception {
        Map<String,
                String> faults = Map.of("UDCKPT_DATA_PATH", "fused", "UDCKPT_SOFT_LOSS", "5", "UDCKPT_SOFT_DUPLICATE",
                        "5",
                        "UDCKPT_SOFT_REORDER", "5", "UDCKPT_SOFT_SEED", Long.toString(System.nanoTime() & 0xffff));
        return cases(SanitizedBuild.THREAD, "fabric_rc_threads", faults);
    }

    @TestFactory
    Stream<DynamicTest> addresses() throws Exception {
        return Stream
                .of("send", "receive", "state", "events", "threads", "rc", "rc_errors", "rc_threads", "uc", "xrc",
                        "windows")
                .flatMap(program -> cases(SanitizedBuild.ADDRESS, "fabric_" + program,
                        Map.of("UDCKPT_DATA_PATH", "fused")));
    }

    /**
     * With tags, as between hosts: what is signed and looked at in each thread, and what is cut short or changed on the
     * way.
     */
    @TestFactory
    Stream<DynamicTest> tags() throws Exception {
        Map<String, String> tags = Map.of("UDCKPT_VIRTUALIZE", "0", "UDCKPT_SOFT_TAGS", "test");
        return Stream.concat(
                Stream.of("fabric_threads", "fabric_rc_threads")
                        .flatMap(program -> cases(SanitizedBuild.THREAD, program, tags)),
                Stream.of("fabric_tags", "fabric_mutations", "fabric_rc")
                        .flatMap(program -> cases(SanitizedBuild.ADDRESS, program, tags)));
    }

    /** Packets with changes by chance, from a seed that is in the name. */
    @TestFactory
    Stream<DynamicTest> mutations() throws Exception {
        return cases(SanitizedBuild.ADDRESS, "fabric_mutations",
                Map.of("UDCKPT_VIRTUALIZE", "0", "FABRIC_SEED", Long.toString(System.nanoTime() & 0xffffff)));
    }

    private static Stream<DynamicTest> cases(SanitizedBuild build, String program, Map<String, String> environment) {
        try {
            String path = build.directory().resolve("tests").resolve(program).toString();
            List<String> names = run(environment, path).lines().toList();
            assertFalse(names.isEmpty(), () -> path + " names no case");
            // Two at a time: most of them wait for the clock now and then. All begin before the first verdict is asked
            // for.
            Map<String, CompletableFuture<String>> verdicts = new LinkedHashMap<>();
            names.forEach(name -> verdicts.put(name,
                    CompletableFuture.supplyAsync(() -> tell(environment, path, name), TWO)));
            return verdicts.entrySet().stream()
                    .map(verdict -> dynamicTest(program + " " + verdict.getKey() + " " + environment,
                            () -> assertEquals("", verdict.getValue().get())));
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException("the cases of " + program, e);
        }
    }

    /** What went wrong, or nothing. */
    private static String tell(Map<String, String> environment, String... command) {
        try {
            run(environment, command);
            return "";
        } catch (IOException | InterruptedException | AssertionError e) {
            return e.toString();
        }
    }

    private static String run(Map<String, String> more, String... command) throws IOException, InterruptedException {
        Path log = Files.createTempFile("sanitized", ".log");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        Map<String, String> environment = new HashMap<>(SanitizedBuild.environment());
        environment.putAll(more);
        builder.environment().keySet().removeIf(name -> name.startsWith("UDCKPT_"));
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            boolean ended = process.waitFor(110, TimeUnit.SECONDS);
            String said = Files.readString(log, StandardCharsets.ISO_8859_1);
            assertEquals(0, ended ? process.exitValue() : 124,
                    () -> String.join(" ", command) + " " + environment + "\n" + said);
            return said;
        } finally {
            process.destroyForcibly();
            Files.delete(log);
        }
    }
}
