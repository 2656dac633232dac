package org.udckpt.store;

import java.util.Objects;
import org.udckpt.launch.pmi.PmiPhase;

/** Rows of the table {@code pmi}. */
public sealed interface PmiRow {
    /** A pair of the key-value space. */
    record Pair(String key, String value) implements PmiRow {
        public Pair {
            Objects.requireNonNull(key, "no key");
            Objects.requireNonNull(value, "no value");
        }
    }

    /** How far a rank is. */
    record Rank(int rank, PmiPhase phase, boolean inBarrier) implements PmiRow {
        public Rank {
            Objects.requireNonNull(phase, "no phase");
        }
    }
}
