package org.udckpt.bench.report;

/** Numbers of papers, beside which results are shown. */
final class Published {
    /** The bytes and seconds of a checkpoint, and the run-time overhead, "less than 1%", of {@link #PETASCALE}. */
    static final double PETASCALE_BYTES = 38e12, PETASCALE_SECONDS = 11 * 60, PETASCALE_OVERHEAD = 0.01;
    static final String PETASCALE =
            "J. Cao et al., System-level Scalable Checkpoint-Restart for Petascale Computing, ICPADS 2016: "
                    + "32,752 ranks, 38 TB, 11 minutes a checkpoint, less than 1% of run time without checkpoints";

    /** GROMACS with a checkpoint each minute, of {@link #MVAPICH2}. */
    static final double MVAPICH2_OVERHEAD = 0.04, MVAPICH2_INTERVAL = 60;
    static final String MVAPICH2 =
            "Q. Gao et al., Application-Transparent Checkpoint/Restart for MPI Programs over InfiniBand, ICPP 2006: "
                    + "GROMACS 4% slower with a checkpoint each minute";

    private Published() {}
}
