package org.udckpt.coordination.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Leases that users may ask for ({@code --heartbeat-timeout}). */
@Timeout(10)
class TimingTest {
    @Test
    void theUsualLeaseHasTheUsualTimes() {
        assertEquals(Timing.USUAL, Timing.ofLease(Duration.ofSeconds(10)));
    }

    /** Who is not heard of yet is waited for as long as who has been heard of, at least. */
    @Test
    void aLeaseLongerThanTheUsualStartLengthensTheStart() {
        Timing timing = Timing.ofLease(Duration.ofSeconds(200));
        assertEquals(new Timing(Duration.ofSeconds(20).toNanos(), Duration.ofSeconds(200).toNanos(),
                Duration.ofSeconds(200).toNanos()), timing);
        Timing longest = Timing.ofLease(Timing.LONGEST_LEASE);
        assertEquals(longest.lease(), longest.start());
        assertTrue(Math.addExact(longest.start(), longest.lease()) > longest.lease());
    }

    @Test
    void aLeaseOfLessThanThreeHeartbeatsIsAMistake() {
        assertThrows(IllegalArgumentException.class, () -> new Timing(10, 29, 100));
    }
}
