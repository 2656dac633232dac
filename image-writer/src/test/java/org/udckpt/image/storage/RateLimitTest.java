package org.udckpt.image.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.image.Images;

@Timeout(60)
class RateLimitTest {
    private static final long MS = 1_000_000;
    private static final long RATE = 1_000_000; // bytes a second: 1000 a millisecond
    private long now = Long.MAX_VALUE - 50 * MS; // the clock wraps in the middle
    private final RateLimit limit = new RateLimit(RATE, () -> now);

    /** A burst of 100 ms is free; what follows is paid by those after it. */
    @Test
    void eachPaysForTheOneBefore() {
        assertEquals(0, limit.claim(100_000), "100 ms worth, saved up");
        assertEquals(0, limit.claim(1_000_000), "goes, and leaves a debt of a second");
        assertEquals(1000 * MS, limit.claim(5_000));
        assertEquals(1005 * MS, limit.claim(1));
        now += 600 * MS;
        assertEquals(405 * MS + 1000, limit.claim(0));
        now += 406 * MS; // 0.999 ms after the debt was paid, which counts
        assertEquals(0, limit.claim(2_000));
        assertEquals(2 * MS - 999_000, limit.claim(0));
    }

    @Test
    void notMoreThanABurstIsSavedUp() {
        now += 3600 * 1000 * MS;
        assertEquals(0, limit.claim(100_000));
        assertEquals(0, limit.claim(1_000));
        assertEquals(MS, limit.claim(0));
    }

    /**
     * Writers that wait as they are told, with pauses of their own: in no stretch of time does more pass than is
     * allowed.
     */
    @Test
    void noStretchOfTimeSeesMoreThanTheRate() {
        Random random = new Random(Images.seed("RateLimitTest"));
        long[] at = new long[2000];
        long[] bytes = new long[at.length];
        long start = now;
        for (int i = 0; i < at.length; i++) {
            now += random.nextInt(4) == 0 ? random.nextLong(200 * MS) : 0;
            bytes[i] = 1 + random.nextInt(20_000);
            now += limit.claim(bytes[i]);
            at[i] = now - start;
        }
        for (int from = 0; from < at.length; from += 7) {
            long sum = 0;
            for (int to = from; to < at.length; to++) {
                double allowed = RATE * ((at[to] - at[from] + RateLimit.BURST_NS) / 1e9) + bytes[to];
                sum += bytes[to];
                assertTrue(sum <= allowed + 1,
                        sum + " bytes from claim " + from + " to " + to + ", " + allowed + " allowed");
            }
        }
    }

    @Test
    void withoutLimitNothingWaits() {
        assertEquals(0, RateLimit.NONE.claim(Long.MAX_VALUE));
        assertTrue(RateLimit.NONE.await(1L << 50, () -> false));
        assertThrows(IllegalArgumentException.class, () -> RateLimit.of(0));
    }

    /** Of an hour's wait, the rest of a nap. */
    @Test
    void aWriterThatIsGivenUpDoesNotSleepOn() {
        RateLimit slow = RateLimit.of(1);
        slow.claim(3600);
        long begin = System.nanoTime();
        assertFalse(slow.await(1, () -> System.nanoTime() - begin > 10 * MS));
        assertTrue(System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(30));
    }
}
