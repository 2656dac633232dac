package org.udckpt.job.launch;

import java.util.Locale;
import java.util.Map;

/** Who starts the job's processes: docs/process-trees.md. */
public enum Launch {
    /** udckpt, as mpiexec does: so many processes of one program, which find each other through it (PMI-1). */
    RANKS,
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
        return TREE.word().equals(labels.get(LABEL)) ? TREE : RANKS;
    }

    /** What {@code run} was asked for: whoever gives a number of ranks, or hosts for them, wants ranks. */
    public static Launch of(Integer ranks, String hosts) {
        return ranks == null && hosts == null ? TREE : RANKS;
    }
}
