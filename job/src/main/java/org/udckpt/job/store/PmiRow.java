package org.udckpt.job.store;

import org.udckpt.job.pmi.PmiPhase;

/** Rows of the table {@code pmi}. */
public sealed interface PmiRow {
    /** A pair of the key-value space. */
    record Pair(String key, String value) implements PmiRow {}

    /** How far a rank is. */
    record Rank(int rank, PmiPhase phase, boolean inBarrier) implements PmiRow {}
}
