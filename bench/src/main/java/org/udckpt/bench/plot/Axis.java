package org.udckpt.bench.plot;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleFunction;

/**
 * One axis.
 *
 * @param title      with the unit
 * @param logarithmic by powers of ten; else from {@code low} on in equal steps
 * @param low        the axis begins here, above 0 where it is logarithmic
 * @param high       and ends here
 * @param label      what is written at a value
 */
public record Axis(String title, boolean logarithmic, double low, double high, DoubleFunction<String> label) {
    private static final int STEPS = 5;
    private static final double FEW_DECADES = 100;

    public Axis {
        if (!(low < high) || logarithmic && !(low > 0)) {
            throw new IllegalArgumentException(title + ": from " + low + " to " + high + " is no range of this axis");
        }
    }

    /** An axis that holds all values. */
    public static Axis around(String title, boolean logarithmic, DoubleFunction<String> label, double... values) {
        double low = logarithmic ? Double.MAX_VALUE : 0;
        double high = logarithmic ? Double.MIN_VALUE : 0;
        for (double value : values) {
            if (Double.isFinite(value) && (!logarithmic || value > 0)) {
                low = Math.min(low, value);
                high = Math.max(high, value);
            }
        }
        if (!logarithmic) {
            return new Axis(title, false, low, high > low ? high : low + 1, label);
        }
        if (low > high) {
            return new Axis(title, true, 1, 10, label);
        }
        double first = Math.pow(10, Math.floor(Math.log10(low)));
        double last = Math.pow(10, Math.ceil(Math.log10(high)));
        return new Axis(title, true, first, last > first ? last : first * 10, label);
    }

    /** Where a value lies, from 0 to 1. */
    double place(double value) {
        return logarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    }

    boolean holds(double value) {
        return value >= low && value <= high; // false for NaN
    }

    /** Values at which a line is drawn. */
    List<Double> ticks() {
        List<Double> ticks = new ArrayList<>();
        if (logarithmic) {
            double[] parts = high / low > FEW_DECADES ? new double[]{1} : new double[]{1, 2, 5};
            for (double decade = low; decade <= high * 1.0001; decade *= 10) {
                for (double part : parts) {
                    if (decade * part <= high * 1.0001) {
                        ticks.add(decade * part);
                    }
                }
            }
        } else {
            double step = step();
            for (double i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
                ticks.add(i * step + 0.0); // no -0
            }
        }
        return ticks;
    }

    /** 1, 2 or 5 times a power of ten, so that there are about as many as wanted. */
    private double step() {
        double wanted = (high - low) / STEPS;
        double decade = Math.pow(10, Math.floor(Math.log10(wanted)));
        double part = wanted / decade;
        return decade * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
    }
}
