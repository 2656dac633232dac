package org.udckpt.cluster;

import java.util.List;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.udckpt.coordination.protocol.CoordinatorListener;

/**
 * What stands above the lead's node: the job. All but {@link #joined}, {@link #missing}, {@link #table} and
 * {@link #failed} is called in the node's thread.
 */
public interface LeadListener extends CoordinatorListener {
    /**
     * The node is made and has heard nothing yet: the time to say who takes part in exchanges and barriers
     * ({@code NodePart.keys ...}).
     */
    void joined(NodeHandle node);

    /**
     * Agents have ended, or the way to them, without being told to; after {@link LeadNodes#start} has returned. The
     * tree finds out as well ({@link CoordinatorListener#lost}), after its lease.
     *
     * @param units theirs
     * @param byItself an agent has ended with a code of its own: its host is well, and its ranks have ended
     * @param reason for the user: which hosts, what command, its exit code
     */
    void agentsEnded(List<Integer> units, boolean byItself, String reason, long now);

    /** Agents did not come, or ended before all had come: the job is not begun. From any thread. */
    void missing(List<Integer> units);

    /** For DRAIN: messages of its own parts that begin and that end here, see {@link LeadPmi#counts}. */
    long[] counts();

    /**
     * An agent's table has come. From a link's thread: those of one agent one after the other, those of several at
     * once, while its thread goes on.
     *
     * @param table is closed after the return
     * @throws IllegalArgumentException if no agent would have sent it: it is refused, and so said
     */
    void table(int from, byte[] subject, VectorSchemaRoot table);

    /** The lead's own node has failed: nothing can be asked of the agents any more. */
    void failed(Throwable cause);
}
