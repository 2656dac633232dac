package org.udckpt.bench.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class AxisTest {
    private static List<String> ticks(boolean logarithmic, double low, double high) {
        return new Axis("", logarithmic, low, high, Double::toString).ticks().stream().map("%.3g"::formatted).toList();
    }

    @Test
    void ticksAreRoundAndHoldZero() {
        assertEquals(List.of("-0.0500", "0.00", "0.0500", "0.100"), ticks(false, -0.0713, 0.123));
        assertEquals(List.of("0.00", "20.0", "40.0", "60.0", "80.0", "100"), ticks(false, 0, 100));
        assertEquals(List.of("1.00", "10.0", "100", "1.00e+03"), ticks(true, 1, 1000));
        assertEquals(List.of("10.0", "20.0", "50.0", "100"), ticks(true, 10, 100));
    }

    /** One spread that is wide leaves the plot, and the bars are still to be seen. */
    @Test
    void aWideSpreadHidesNoBar() {
        BarPlot plot = new BarPlot("t", "u", false, List.of("a"), "%.2f"::formatted)
                .row("narrow", List.of(new BarPlot.Bar(0.02, 0.01, 0.03)))
                .row("wide", List.of(new BarPlot.Bar(-0.01, -0.8, 2.8)));
        assertTrue(plot.svg().contains(">0.04<"), plot::svg);
        assertFalse(plot.svg().contains(">2.00<"), plot::svg);
    }
}
