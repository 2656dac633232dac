package org.udckpt.fuzz;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Replays the inputs of all fuzz targets of a module, and a few changes of each, without a fuzzer: a module with
 * targets has a test class that extends this one.
 */
public abstract class FuzzInputs {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final int CHANGES = Integer.getInteger("udckpt.fuzz.changes", 40);

    private List<FuzzTarget> targets() throws URISyntaxException {
        return FuzzTarget.below(Path.of(getClass().getProtectionDomain().getCodeSource().getLocation().toURI()));
    }

    @TestFactory
    Stream<DynamicTest> replay() throws URISyntaxException {
        return targets().stream().flatMap(target -> target.files().stream().map(
                file -> DynamicTest.dynamicTest(target.name() + "/" + file.getFileName(), file.toUri(),
                        () -> replay(target, file))));
    }

    private static void replay(FuzzTarget target, Path file) throws Exception {
        byte[] input = Files.readAllBytes(file);
        assertTimeoutPreemptively(LIMIT, () -> run(target, input));
        Random random = new Random(file.getFileName().toString().hashCode());
        assertTimeoutPreemptively(LIMIT, () -> {
            for (int i = 0; i < CHANGES; i++) {
                run(target, changed(input, random));
            }
        });
    }

    private static void run(FuzzTarget target, byte[] input) {
        try {
            target.run(input.clone());
        } catch (Throwable e) {
            throw new AssertionError(target.name() + " with " + input.length + " bytes "
                    + HexFormat.of().formatHex(input, 0, Math.min(2000, input.length)), e);
        }
    }

    /** Cut off, or with another byte, or four, somewhere. */
    private static byte[] changed(byte[] input, Random random) {
        byte[] changed = random.nextInt(4) == 0 ? java.util.Arrays.copyOf(input, random.nextInt(input.length + 1))
                : input.clone();
        int[] odd = {0, 1, -1, 0x7f, 0x80, ' ', '\n', '9', random.nextInt()};
        for (int n = changed.length == 0 ? 0 : random.nextInt(3); n > 0; n--) {
            int at = random.nextInt(changed.length);
            byte value = (byte) odd[random.nextInt(odd.length)];
            for (int i = at; i < Math.min(changed.length, at + (random.nextInt(3) == 0 ? 4 : 1)); i++) {
                changed[i] = value;
            }
        }
        return changed;
    }

    /**
     * A target without inputs would be replayed by nobody, and one that does not say what it is for would be of no use
     * to the list of parsers.
     */
    @Test
    void eachTargetHasInputsAndParsers() throws URISyntaxException {
        assertFalse(targets().isEmpty(), "no fuzz target in this module");
        for (FuzzTarget target : targets()) {
            assertTrue(Files.isDirectory(target.inputs()) && !target.files().isEmpty(),
                    "no inputs in " + target.inputs());
            assertNotNull(target.type().getAnnotation(Fuzzes.class), target.name() + " does not say what it fuzzes");
        }
    }
}
