package org.udckpt.agent;

import java.util.OptionalInt;

/**
 * Hears that the ranks of one agent end the job, at most once: the user is to be told why, unless the agent has all
 * ranks and has said it itself, and those of other agents are to be ended, by {@link Job#endElsewhere} of theirs.
 */
@FunctionalInterface
public interface EndListener {
    /** A job whose ranks all have one agent. */
    EndListener NOBODY = (code, why) -> {};

    /**
     * Called on a thread of the shepherd's or of a PMI connection, before the agent's own ranks are ended; must not
     * block.
     *
     * @param code of the whole job, if it is decided (a rank aborted, or died by a signal); else it is that of all
     *     ranks' exit codes, or'ed
     * @param why in words for people, beginning with the rank
     */
    void ends(OptionalInt code, String why);
}
