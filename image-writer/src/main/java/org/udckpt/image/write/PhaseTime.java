package org.udckpt.image.write;

import java.util.Objects;

/**
 * A row of the table {@code phases}.
 *
 * @param rank        the rank, or {@link #JOB} where a phase is not a single rank's
 * @param nanoseconds how long the phase took, at least 0
 */
public record PhaseTime(int rank, Phase phase, long nanoseconds) {
    /** The rank of phases that the whole job shares. */
    public static final int JOB = -1;

    public PhaseTime {
        Objects.requireNonNull(phase, "no phase");
    }
}
