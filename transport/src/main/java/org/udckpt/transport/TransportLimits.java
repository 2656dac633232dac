package org.udckpt.transport;

import java.time.Duration;
import org.udckpt.coordination.tree.Timing;

/**
 * What an {@link TransportEndpoint} allows, and how long it waits.
 *
 * @param strangers connections at once that have not yet proved to belong to the job
 * @param strangersOfOne of these from one address
 * @param connections of the job's nodes open at once, and as many to them: 42 KiB of memory for one each way
 *     ({@code bench/links memory}), and all nodes talk to the lead at the start
 * @param handshake until when a connection must have proved it
 * @param frameBytes a gRPC message: a shipment of messages, or a record batch
 * @param tableBytes a whole table in memory
 * @param queueBytes of messages and tables that wait for one node, of each kind
 * @param messageCall how long a shipment of messages may take until it is sent again over a new connection; well below
 *     the tree's lease, so that one connection that stalls is not a node that is lost
 * @param tableCall the same of a table
 * @param firstPause before the second attempt to reach a node; doubled for each further one
 * @param longestPause between attempts
 * @param idle a connection over which nothing goes for so long is closed, and made again when something is to be sent:
 *     the lead is asked by each node at the start, and would keep them all
 */
public record TransportLimits(int strangers, int strangersOfOne, int connections, Duration handshake, int frameBytes,
        long tableBytes, long queueBytes,
        Duration messageCall, Duration tableCall, Duration firstPause, Duration longestPause, Duration idle) {
    private static final int MIB = 1 << 20;
    private static final int IDLE_HEARTBEATS = 3;

    public static TransportLimits usual() {
        return new TransportLimits(256, 32, 4096, Duration.ofSeconds(10), 4 * MIB, 256L * MIB, 16L * MIB,
                Duration.ofNanos(Timing.USUAL.lease() / 3),
                Duration.ofSeconds(60), Duration.ofMillis(50), Duration.ofSeconds(5), Duration.ofSeconds(60));
    }

    /**
     * Between nodes of a tree: its neighbours hear of each other each heartbeat, and all other connections are for a
     * word or two.
     *
     * @param heartbeat in nanoseconds
     */
    public TransportLimits ofTree(long heartbeat) {
        return new TransportLimits(strangers, strangersOfOne, connections, handshake, frameBytes, tableBytes,
                queueBytes, messageCall, tableCall, firstPause, longestPause,
                Duration.ofNanos(IDLE_HEARTBEATS * heartbeat));
    }
}
