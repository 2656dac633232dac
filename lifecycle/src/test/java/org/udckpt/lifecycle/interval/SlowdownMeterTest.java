package org.udckpt.lifecycle.interval;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class SlowdownMeterTest {
    private static final long SECOND = 1_000_000_000L;
    private long now = -5;
    private long sends;
    private final SlowdownMeter meter = new SlowdownMeter(() -> sends, () -> now);

    private void pass(long seconds, long rate) {
        now += seconds * SECOND;
        sends += seconds * rate;
    }

    private OptionalDouble checkpoint(long before, long rateBefore, long write, long rateWrite) {
        pass(before, rateBefore);
        meter.stops();
        pass(2, 0);
        meter.resumes();
        pass(write, rateWrite);
        OptionalDouble share = meter.written();
        meter.runsFreely();
        return share;
    }

    /** 10,000 sends a second alone, 7,500 beside the write; the stop itself is in neither. */
    @Test
    void theShareIsWhatIsMissingFromTheRate() {
        assertEquals(0.25, checkpoint(10, 10_000, 4, 7_500).orElseThrow(), 1e-12);
        assertEquals(0.5, checkpoint(10, 10_000, 4, 5_000).orElseThrow(), 1e-12,
                "the write before is not in the rate alone");
    }

    @Test
    void aFasterJobLostNothing() {
        assertEquals(0, checkpoint(10, 1_000, 4, 2_000).orElseThrow());
    }

    @Test
    void tooFewSendsSayNothing() {
        assertEquals(OptionalDouble.empty(), checkpoint(10, 0, 4, 0));
        assertEquals(OptionalDouble.empty(), checkpoint(10, 10_000, 4, 100));
        assertEquals(OptionalDouble.empty(), checkpoint(10, 50, 4, 10_000));
    }
}
