package org.udckpt.bench.micro;

/**
 * What a small benchmark came to; less is better.
 *
 * @param error half the width of its 99.9% confidence interval; 0: a count, or too few runs to know
 * @param unit of both
 */
record Score(String name, double value, double error, String unit) {
    static final String INSTRUCTIONS = "instructions added";

    /** Not a time: the load of the machine does not change it. */
    boolean isCount() {
        return unit.equals(INSTRUCTIONS);
    }
}
