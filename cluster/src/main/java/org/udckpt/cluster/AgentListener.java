package org.udckpt.cluster;

import java.util.function.IntConsumer;
import org.udckpt.address.DatagramKey;
import org.udckpt.coordination.protocol.Ranks;
import org.udckpt.support.config.Settings;

/**
 * What stands above an agent's node: its ranks, which the coordinator's first call starts (START). All but
 * {@link #joined} and {@link #close} is called in the node's thread.
 */
public interface AgentListener extends Ranks, AutoCloseable {
    /** Makes the part of one agent. */
    @FunctionalInterface
    interface Maker {
        /**
         * @param specification what is to run
         * @param unit of it, which this agent has
         * @param settings this host's, with what the lead was given
         * @param key by which the processes of all agents know each other's datagrams
         * @param end ends this agent with an exit code, as when nothing is left to do after {@link Ranks#over}; returns
         *     at once
         */
        AgentListener make(NodeSpecification specification, int unit, Settings settings, DatagramKey key,
                IntConsumer end);
    }

    /**
     * The node is made and has heard nothing yet: the time to say who takes part in exchanges and barriers
     * ({@code NodePart.keys ...}).
     */
    void joined(NodeHandle node);

    /**
     * The agent ends, whatever the reason: ends what is left of the ranks. Not in the node's thread; no other call
     * comes meanwhile or later.
     */
    @Override
    void close();
}
