package org.udckpt.bench.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Small jobs of the kind that bench/scale shows. Times are virtual: they depend on nothing but the seed. */
class ScaleRunTest {
    @TempDir
    private Path directory;

    @Test
    void tablesAreExchangedAndACheckpointIsTaken() throws IOException {
        Pattern pattern = new Pattern(4096, 16, 2);
        ScaleResult result = run(pattern, true, 3);
        assertTrue(result.agreement() < 250_000_000, "agreement " + result.agreement() + " ns");
        assertTrue(result.exchange().nanos() < 2_000_000_000, "tables " + result.exchange().nanos() + " ns");
        assertTrue(result.mostBytes() < 8_000_000, result.mostBytes() + " bytes");
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(0, left.count(), "tables keep no name");
        }
    }

    /** The bars, at the size of the run that the project is held against. */
    @Tag("slow")
    @Test
    void theBarsHoldFor32752Ranks() {
        ScaleResult result = run(new Pattern(32_752, 16, 2), true, 1);
        assertTrue(result.agreement() < 250_000_000, "agreement " + result.agreement() + " ns");
        assertTrue(result.exchange().nanos() < 2_000_000_000, "tables " + result.exchange().nanos() + " ns");
        assertTrue(result.mostBytes() < 8_000_000, result.mostBytes() + " bytes");
    }

    @Test
    void theSameSeedGivesTheSameRun() {
        Pattern pattern = new Pattern(640, 8, 1);
        ScaleResult one = run(pattern, true, 4);
        ScaleResult other = run(pattern, true, 4);
        assertEquals(one.exchange(), other.exchange());
        assertEquals(one.checkpoint(), other.checkpoint());
        assertEquals(one.agreement(), other.agreement());
    }

    /** Each level adds about the same: sixteen times the nodes, one level more. */
    @Test
    void agreementGrowsWithTheLevels() {
        long level = run(new Pattern(17 * 16, 16, 2), false, 5).agreement(); // one level
        for (int nodes : new int[]{273, 4369}) { // two and three full levels
            ScaleResult result = run(new Pattern(nodes * 16, 16, 2), false, 5);
            assertTrue(result.agreement() < 2 * result.tree().depth() * level,
                    nodes + " nodes: " + result.agreement() + " ns, " + level + " ns with one level");
        }
    }

    @Test
    void partnersAreMutual() {
        Pattern pattern = new Pattern(24, 4, 1);
        int[] sides = pattern.sides();
        assertEquals(24, sides[0] * sides[1] * sides[2]);
        for (int rank = 0; rank < 24; rank++) {
            int one = rank;
            pattern.partners(rank, sides, other -> {
                boolean[] back = new boolean[1];
                pattern.partners(other, sides, again -> back[0] |= again == one);
                assertTrue(back[0], one + " talks to " + other + ", which does not answer");
            });
        }
    }

    private ScaleResult run(Pattern pattern, boolean exchanges, long seed) {
        try (ScaleRun run = new ScaleRun(pattern, 16, NetworkModel.GIGABIT, exchanges, directory, seed)) {
            return run.run();
        }
    }
}
