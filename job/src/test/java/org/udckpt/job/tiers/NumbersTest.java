package org.udckpt.job.tiers;

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
class NumbersTest extends TierFixture {
    private void drainTwoAndLoseFast() throws Exception {
        write();
        write();
        Drain.start(tiers, options, 0, 1, LONG).close();
        new ProcessBuilder("rm", "-rf", tiers.fast().path().toString()).start().waitFor();
    }

    /** A burst buffer that was emptied does not give out the numbers of the slow tier again. */
    @Test
    void numbersGoOnAfterFastWasLost() throws Exception {
        drainTwoAndLoseFast();
        try (Drain drain = Drain.start(tiers, options, 0, 1, LONG)) {
            while (Files.notExists(tiers.fast().path().resolve("sequence"))) {
                Thread.sleep(5);
            }
            assertEquals("ckpt-0003", write());
            drain.ask();
        }
        assertTiers(List.of("ckpt-0003"), List.of("ckpt-0002", "ckpt-0003"));
    }

    /** Fast was emptied while slow is away: what is taken now must not have a number that slow has, and is copied once it is back. */
    @Test
    void numbersAreUniqueAlsoWhileSlowIsAway() throws Exception {
        drainTwoAndLoseFast();
        Path away = Files.move(tiers.slow().path(), temp.resolve("away"));
        Files.writeString(tiers.slow().path(), "not a directory");
        long before = Instant.now().getEpochSecond();
        long first;
        try (Drain drain = Drain.start(tiers, options, 0, 2, LONG)) {
            drain.beforeNumber();
            first = number(write());
            drain.beforeNumber();
            assertEquals(first + 1, number(write()), "the clock is asked once in a life");
            assertTrue(first > before && first <= Instant.now().getEpochSecond() + 1, first + " is not the clock's");
            drain.ask();
            awaitProblem(drain, "ckpt-" + (first + 1));
            Files.delete(tiers.slow().path());
            Files.move(away, tiers.slow().path());
            drain.beforeNumber();
            String last = write();
            assertEquals(first + 2, number(last));
            drain.ask();
            await(drain, last);
            assertEquals("", drain.state().problem());
        }
        assertTiers(List.of("ckpt-" + (first + 1), "ckpt-" + (first + 2)), List.of("ckpt-0002", "ckpt-" + (first + 2)));
    }

    private static long number(String name) {
        return Long.parseLong(name.substring("ckpt-".length()));
    }

    @Test
    void aNewJobsNumbersBeginWithOne() throws Exception {
        try (Drain drain = Drain.start(tiers, options, 0, 1, LONG)) {
            drain.beforeNumber();
            assertEquals("ckpt-0001", write());
        }
    }

    /** An unmounted slow tier looks like none; but fast knows that there was a life before this one. */
    @Test
    void numbersAreTheClocksWhereSlowIsMissed() throws Exception {
        write();
        Numbers numbers = new Numbers(tiers, options.key(), options.storage(), LONG, InstantSource.fixed(Instant.ofEpochSecond(5_000_000_000L)));
        numbers.follow();
        numbers.beforeNext();
        assertEquals("ckpt-5000000001", write());
    }

    @Test
    void noCheckpointWaitsForASlowTierThatDoesNotAnswer() throws Exception {
        Files.createDirectory(tiers.slow().path());
        Numbers numbers = new Numbers(tiers, options.key(), options.storage(), Duration.ofMillis(10), InstantSource.fixed(Instant.ofEpochSecond(5_000_000_000L)));
        numbers.beforeNext(); // nobody has come back from slow yet
        assertEquals("ckpt-5000000001", write());
        numbers.follow();
        numbers.beforeNext();
        assertEquals("ckpt-5000000002", write());
    }
}
