package org.udckpt.store.tiers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What number the next checkpoint has, whatever became of the tiers. */
@Timeout(300)
class CheckpointNumbersTest extends TierFixture {
    private void drainTwoAndLoseFast() throws Exception {
        write();
        write();
        TierFlush.start(tiers, options, 0, 1, LONG).close();
        new ProcessBuilder("rm", "-rf", tiers.fast().path().toString()).start().waitFor();
    }

    /** A burst buffer that was emptied does not give out the numbers of the slow tier again. */
    @Test
    void numbersGoOnAfterFastWasLost() throws Exception {
        drainTwoAndLoseFast();
        try (TierFlush flush = TierFlush.start(tiers, options, 0, 1, LONG)) {
            while (Files.notExists(tiers.fast().path().resolve("sequence"))) {
                Thread.sleep(5);
            }
            assertEquals("ckpt-0003", write());
            flush.ask();
        }
        assertTiers(List.of("ckpt-0003"), List.of("ckpt-0002", "ckpt-0003"));
    }

    /**
     * Fast was emptied while slow is away: what is taken now must not have a number that slow has, and is copied once
     * it is back.
     */
    @Test
    void numbersAreUniqueAlsoWhileSlowIsAway() throws Exception {
        drainTwoAndLoseFast();
        Path away = Files.move(tiers.slow().path(), temp.resolve("away"));
        Files.writeString(tiers.slow().path(), "not a directory");
        long before = Instant.now().getEpochSecond();
        long first;
        try (TierFlush flush = TierFlush.start(tiers, options, 0, 2, LONG)) {
            flush.beforeNumber();
            first = number(write());
            flush.beforeNumber();
            assertEquals(first + 1, number(write()), "the clock is asked once in an incarnation");
            assertTrue(first > before && first <= Instant.now().getEpochSecond() + 1, first + " is not the clock's");
            flush.ask();
            awaitProblem(flush, "ckpt-" + (first + 1));
            Files.delete(tiers.slow().path());
            Files.move(away, tiers.slow().path());
            flush.beforeNumber();
            String last = write();
            assertEquals(first + 2, number(last));
            flush.ask();
            await(flush, last);
            assertEquals("", flush.state().problem());
        }
        assertTiers(List.of("ckpt-" + (first + 1), "ckpt-" + (first + 2)), List.of("ckpt-0002", "ckpt-" + (first + 2)));
    }

    private static long number(String name) {
        return Long.parseLong(name.substring("ckpt-".length()));
    }

    @Test
    void aNewJobsNumbersBeginWithOne() throws Exception {
        try (TierFlush flush = TierFlush.start(tiers, options, 0, 1, LONG)) {
            flush.beforeNumber();
            assertEquals("ckpt-0001", write());
        }
    }

    /** An unmounted slow tier looks like none; but fast knows that there was an incarnation before this one. */
    @Test
    void numbersAreTheClocksWhereSlowIsMissed() throws Exception {
        write();
        CheckpointNumbers numbers = new CheckpointNumbers(tiers, options.key(), options.storage(), LONG,
                InstantSource.fixed(Instant.ofEpochSecond(5_000_000_000L)));
        numbers.follow();
        numbers.beforeNext();
        assertEquals("ckpt-5000000001", write());
    }

    @Test
    void noCheckpointWaitsForASlowTierThatDoesNotAnswer() throws Exception {
        Files.createDirectory(tiers.slow().path());
        CheckpointNumbers numbers = new CheckpointNumbers(tiers, options.key(), options.storage(),
                Duration.ofMillis(10), InstantSource.fixed(Instant.ofEpochSecond(5_000_000_000L)));
        numbers.beforeNext(); // nobody has come back from slow yet
        assertEquals("ckpt-5000000001", write());
        numbers.follow();
        numbers.beforeNext();
        assertEquals("ckpt-5000000002", write());
    }
}
