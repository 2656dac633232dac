package org.udckpt.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * No thread is inside a verb while the gate is closed, none is lost, and handlers that call verbs inside verbs do not
 * hang: {@code native/src/test/c/gate/gate_stress.c}, for {@code udckpt.gate.seconds} (3) with {@code udckpt.seed}.
 */
@Timeout(3700)
class GateStressTest {
    /** What the program grants a thread that nobody schedules, above the time that it was asked for. */
    private static final int GRACE_SECONDS = 110;

    @Test
    void theGateHoldsUnderStress() throws Exception {
        int seconds = Integer.getInteger("udckpt.gate.seconds", 3);
        long seed = Long.getLong("udckpt.seed", System.nanoTime());
        System.out.println("GateStressTest: -Dudckpt.seed=" + seed);
        String[] command = {Native.program("gate_stress").toString(), Integer.toString(seconds), Long.toString(seed)};
        try (Native.Running running = Native.start(Map.of("LD_PRELOAD", ""), List.of(command))) {
            Native.Result result = running.await(seconds + GRACE_SECONDS);
            System.out.print(result.out());
            assertEquals(0, result.exit(), () -> "seed " + seed + ", " + result);
        }
    }
}
