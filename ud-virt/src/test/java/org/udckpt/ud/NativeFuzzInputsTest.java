package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/**
 * The inputs of the fuzz targets in C (native/src/test/fuzz), and a few changes of each, under AddressSanitizer and
 * UndefinedBehaviorSanitizer, without a fuzzer.
 */
@Timeout(900) // the first one builds
class NativeFuzzInputsTest {
    private static final int SECONDS = 120;
    private static final Path SOURCES = Path.of(System.getProperty("udckpt.root"), "native/src/test/fuzz");

    @Tag("slow")
    @TestFactory
    Stream<DynamicTest> replay() {
        return list(SOURCES).stream().map(file -> file.getFileName().toString())
                .filter(name -> name.endsWith(".c") && !name.equals("fuzz_replay.c"))
                .map(name -> name.substring(0, name.length() - ".c".length()))
                .map(name -> DynamicTest.dynamicTest(name, () -> replay(name)));
    }

    /** They include files of ours whose functions may need more, which a change would find out late. */
    @Test
    void theyAreBuilt() throws Exception {
        SanitizedBuild
                .run(List.of("cmake", "--build", System.getProperty("udckpt.native"), "--target", "fuzz_targets"));
    }

    private static void replay(String target) throws Exception {
        List<Path> inputs = list(SOURCES.resolve(target));
        assertFalse(inputs.isEmpty(), target + " has no inputs");
        List<String> command =
                new ArrayList<>(List.of(SanitizedBuild.ADDRESS.directory().resolve("fuzz").resolve(target).toString()));
        inputs.forEach(input -> command.add(input.toString()));
        Path said = Files.createTempFile("fuzz", ".log");
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile());
            builder.environment().putAll(SanitizedBuild.environment());
            Process process = builder.start();
            try {
                assertEquals(0, process.waitFor(SECONDS, TimeUnit.SECONDS) ? process.exitValue() : 124,
                        () -> target + "\n" + end(said));
            } finally {
                process.destroyForcibly();
            }
        } finally {
            Files.delete(said);
        }
    }

    private static List<Path> list(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String end(Path file) {
        try {
            String text = Files.readString(file, StandardCharsets.ISO_8859_1);
            return text.substring(Math.max(0, text.length() - 8000));
        } catch (IOException e) {
            return e.toString();
        }
    }
}
