package org.udckpt.bench.scale;

import org.udckpt.coordination.protocol.Op;
import org.udckpt.coordination.protocol.Ranks;
import org.udckpt.coordination.protocol.Request;

/** A node's ranks, which take their time for what they are asked. */
final class SimulatedRanks implements Ranks {
    /** How long things take, whether they fail, and what they do. */
    interface Behaviour {
        /** Nanoseconds. */
        long duration(int node, Op op);

        /** Called when the request has ended. @return why it failed, or null */
        String ended(int node, Request request);

        /** Messages that this node's ranks have sent and received. */
        long[] counts(int node);

        /** Something is begun; what was under way has been given up, if it was. */
        default void begun(int node, Request request) {}

        /** The node has lost the coordinator. */
        default void over(int node, String why, long inDoubt) {}
    }

    private final int node;
    private final World world;
    private final Behaviour behaviour;
    private int begun;

    SimulatedRanks(int node, World world, Behaviour behaviour) {
        this.node = node;
        this.world = world;
        this.behaviour = behaviour;
    }

    @Override
    public void begin(Request request, long now) {
        int own = ++begun;
        behaviour.begun(node, request);
        world.later(node, behaviour.duration(node, request.op()), () -> {
            if (own == begun) {
                String failure = behaviour.ended(node, request);
                world.node(node).participant().done(request, failure,
                        request.op() == Op.DRAIN ? behaviour.counts(node) : new long[0], world.now());
            }
        });
    }

    @Override
    public void over(String why, long inDoubt, long now) {
        behaviour.over(node, why, inDoubt);
    }
}
