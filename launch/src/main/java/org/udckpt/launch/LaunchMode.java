package org.udckpt.launch;

import java.util.Locale;
import java.util.Map;
import org.udckpt.address.RankSpan;

/** How a job's processes are started: docs/user/running.md. */
public enum LaunchMode {
    /** udckpt starts the ranks, as mpiexec does: N processes of one program, which find each other by PMI-1. */
    RANKS,
    /**
     * udckpt starts one {@code udckpt-pmix} a host, which starts that host's ranks and is their PMIx server:
     * docs/user/running.md, Open MPI.
     */
    PMIX,
    /** The program starts its processes itself: a launcher with daemons and ranks, a script, a single process. */
    TREE;

    /** Label of an image with the launch mode. */
    public static final String LABEL = "launch";

    /** The label's value. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The launch mode of an image; images without the label are of {@link #RANKS}. */
    public static LaunchMode ofLabels(Map<String, String> labels) {
        for (LaunchMode launch : values()) {
            if (launch.word().equals(labels.get(LABEL))) {
                return launch;
            }
        }
        return RANKS;
    }

    /**
     * The launch mode of {@code run}: ranks, when a number of ranks or hosts are given.
     *
     * @param pmix ranks use PMIx, not PMI-1
     */
    public static LaunchMode of(Integer ranks, String hosts, boolean pmix) {
        return ranks == null && hosts == null ? TREE : pmix ? PMIX : RANKS;
    }

    /** The ranks that an agent starts itself and serves by PMI-1; all others are children of one of these. */
    public RankSpan roots(RankSpan span) {
        return switch (this) {
            case RANKS, TREE -> span;
            case PMIX -> span.leader();
        };
    }
}
