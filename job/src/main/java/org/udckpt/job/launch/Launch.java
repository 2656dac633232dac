package org.udckpt.job.launch;

/** Who starts the job's processes: docs/process-trees.md. */
public enum Launch {
    /** udckpt, as mpiexec does: so many processes of one program, which find each other through it (PMI-1). */
    RANKS,
    /** The program itself, as from a shell: a launcher with its daemons and ranks, a script, a single process. */
    TREE;

    /** What {@code run} was asked for: whoever gives a number of ranks, or hosts for them, wants ranks. */
    public static Launch of(Integer ranks, String hosts) {
        return ranks == null && hosts == null ? TREE : RANKS;
    }
}
