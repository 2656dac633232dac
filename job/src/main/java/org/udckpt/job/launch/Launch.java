package org.udckpt.job.launch;

import java.util.Locale;
import java.util.Map;
import org.udckpt.address.RankSpan;

/** Who starts the job's processes: docs/user/running.md. */
public enum Launch {
    /** udckpt, as mpiexec does: so many processes of one program, which find each other through it (PMI-1). */
    RANKS,
    /** udckpt too, but for each host one process, {@code udckpt-pmix}, which starts its ranks and by which they find each other (PMIx): docs/user/running.md, Open MPI. */
    PMIX,
    /** The program itself, as from a shell: a launcher with its daemons and ranks, a script, a single process. */
    TREE;

    /** The label of an image that says it. */
    public static final String LABEL = "launch";

    /** As the label's value. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** By the labels of an image; those that were made before trees could be told have none. */
    public static Launch ofLabels(Map<String, String> labels) {
        for (Launch launch : values()) {
            if (launch.word().equals(labels.get(LABEL))) {
                return launch;
            }
        }
        return RANKS;
    }

    /** What {@code run} was asked for: whoever gives a number of ranks, or hosts for them, wants ranks. @param pmix how they are to find each other */
    public static Launch of(Integer ranks, String hosts, boolean pmix) {
        return ranks == null && hosts == null ? TREE : pmix ? PMIX : RANKS;
    }

    /** Which of an agent's ranks it starts itself, and is PMI-1's server of: the others are below one of them. */
    public RankSpan roots(RankSpan span) {
        return switch (this) {
            case RANKS, TREE -> span;
            case PMIX -> span.leader();
        };
    }
}
