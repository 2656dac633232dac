package org.udckpt.launch.pmi;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The other agents of a job, whose ranks share its key-value space and its barriers. All methods return at once; any
 * thread may call them.
 */
public interface PmiPeers {
    /**
     * Pairs that this agent's ranks have put; known to the others when a barrier that {@link #enter}s later has ended.
     */
    void put(Map<String, String> pairs);

    /**
     * What ranks of any agent have put under these keys; one that is not in it nobody has, as far as is known when the
     * question arrives.
     */
    CompletableFuture<Map<String, String>> get(Set<String> keys);

    /** All of this agent's ranks are in the barrier; its end comes back as {@link PmiServer#release}. */
    void enter();

    /** Counts what has begun and ended here and between agents: unchanged over a time in which nothing moved. */
    long traffic();
}
