package org.udckpt.bench.scale;

/** What goes wrong with messages. */
@FunctionalInterface
interface Faults {
    Faults NONE = (_, _, _) -> new long[1];

    /** How often a message that is sent now arrives, and how much later than it should, in nanoseconds each. */
    long[] delays(int from, int to, long now);
}
