package org.udckpt.lifecycle.interval;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class OptimalIntervalTest {
    /** C = 8 s, M = 1 h: sqrt(2 * 8 * 3600) = sqrt(57600) = 240. */
    @Test
    void young() {
        assertEquals(240, OptimalInterval.young(8, 3600), 1e-9);
        assertEquals(0, OptimalInterval.young(0, 3600));
    }

    /**
     * C = 8, M = 3600: C/2M = 1/900, its root 1/30; 240 * (1 + 1/90 + 1/8100) - 8 = 240 + 2.66667 + 0.02963 - 8 =
     * 234.69630. C = 200, M = 100 is not under 2M: M. C = 50, M = 100: C/2M = 1/4; 100 * (1 + 1/6 + 1/36) - 50 =
     * 69.44444.
     */
    @Test
    void daly() {
        assertEquals(234.69630, OptimalInterval.daly(8, 3600), 1e-5);
        assertEquals(69.44444, OptimalInterval.daly(50, 100), 1e-5);
        assertEquals(100, OptimalInterval.daly(200, 100));
        assertEquals(100, OptimalInterval.daly(1e6, 100));
    }

    /** The exact optimum t satisfies exp((t + C) / M) * (1 - t / M) = 1 (Vaidya 1997); found here by bisection. */
    @Test
    void theEstimateIsNearTheExactOptimum() {
        double mtbf = 86400;
        for (double cost : new double[]{0.05, 1, 30, 600, 6000, 40000}) {
            double exact = exact(cost, mtbf);
            assertEquals(exact, OptimalInterval.daly(cost, mtbf), 0.006 * exact, "cost " + cost);
        }
        assertTrue(Math.abs(OptimalInterval.young(40000, mtbf) / exact(40000, mtbf) - 1) > 0.3,
                "Young's estimate is far off there");
    }

    private static double exact(double cost, double mtbf) {
        double low = 0;
        double high = mtbf;
        for (int i = 0; i < 200; i++) {
            double middle = (low + high) / 2;
            boolean tooShort = (middle + cost) / mtbf + Math.log1p(-middle / mtbf) > 0;
            low = tooShort ? middle : low;
            high = tooShort ? high : middle;
        }
        return low;
    }
}
