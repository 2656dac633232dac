package org.udckpt.bench.scale;

import java.util.function.IntConsumer;
import org.udckpt.coordination.protocol.NodeProtocol;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.TreeTransport;

/**
 * Nodes, the network between them, and virtual time. A node's agent does one thing at a time; it may be paused, and it
 * may die. Links keep their order unless faults change it.
 */
final class World {
    private final EventQueue events = new EventQueue();
    private final NetworkModel network;
    private final Faults faults;
    private final NodeProtocol[] nodes;
    private final NodeTraffic traffic;
    private final long[] processorFree;
    private final long[] outFree;
    private final long[] inFree;
    private final long[] pausedUntil;
    private final long[] timer;
    private final boolean[] dead;
    private IntConsumer afterEvent = node -> {};

    World(int count, NetworkModel network, Faults faults) {
        this.network = network;
        this.faults = faults;
        nodes = new NodeProtocol[count];
        traffic = new NodeTraffic(count);
        processorFree = new long[count];
        outFree = new long[count];
        inFree = new long[count];
        pausedUntil = new long[count];
        timer = new long[count];
        dead = new boolean[count];
    }

    long now() {
        return events.now();
    }

    EventQueue events() {
        return events;
    }

    NodeTraffic traffic() {
        return traffic;
    }

    int count() {
        return nodes.length;
    }

    /** Null before its agent has started. */
    NodeProtocol node(int node) {
        return nodes[node];
    }

    boolean isDead(int node) {
        return dead[node];
    }

    /** Called after everything that happened at a node. */
    void afterEvent(IntConsumer check) {
        afterEvent = check;
    }

    TreeTransport links(int from) {
        return (to, message) -> send(from, to, message);
    }

    /** The agent runs from now on. */
    void start(int node, NodeProtocol part) {
        nodes[node] = part;
        timer[node] = Long.MAX_VALUE;
        later(node, 0, () -> {});
    }

    /** Its agent does nothing any more, and nothing reaches it. */
    void kill(int node) {
        dead[node] = true;
    }

    /** Its agent does nothing for a while, and then all that it missed. */
    void pause(int node, long nanos) {
        pausedUntil[node] = Math.max(pausedUntil[node], now() + nanos);
    }

    /** Something happens at a node, if it lives then. */
    void later(int node, long delay, Runnable action) {
        events.at(now() + delay, () -> happen(node, action));
    }

    private void happen(int node, Runnable action) {
        if (dead[node] || nodes[node] == null) {
            return;
        }
        if (pausedUntil[node] > now()) {
            events.at(pausedUntil[node], () -> happen(node, action));
            return;
        }
        action.run();
        wake(node);
        afterEvent.accept(node);
    }

    /** One timer event a node is enough, for the earliest moment that it ever asked for. */
    private void wake(int node) {
        long due = Math.max(now(), nodes[node].treeNode().due());
        if (due < timer[node]) {
            timer[node] = due;
            events.at(due, () -> {
                if (timer[node] == due) {
                    happen(node, () -> {
                        timer[node] = Long.MAX_VALUE;
                        nodes[node].treeNode().onTimer(now());
                    });
                }
            });
        }
    }

    private void send(int from, int to, byte[] message) {
        if (to == from || to < 0 || to >= nodes.length || message.length > TreeTransport.MAX_MESSAGE_BYTES) {
            throw new IllegalStateException("node " + from + " sends " + message.length + " bytes to node " + to);
        }
        int bytes = message.length + network.overhead();
        traffic.waits(from, bytes);
        processorFree[from] = Math.max(now(), processorFree[from]) + network.processor(message.length);
        outFree[from] = Math.max(processorFree[from], outFree[from]) + network.wire(message.length);
        events.at(outFree[from], () -> {
            traffic.waitsNoMore(from, bytes);
            if (dead[from]) {
                return;
            }
            traffic.sent(from, bytes);
            for (long delay : faults.delays(from, to, now())) {
                events.at(now() + network.latency() + delay, () -> arrive(from, to, message));
            }
        });
    }

    private void arrive(int from, int to, byte[] message) {
        int bytes = message.length + network.overhead();
        // The first byte came while the sender sent the last ones: a link that is free has the message by now.
        inFree[to] = Math.max(now(), inFree[to] + network.wire(message.length));
        processorFree[to] = Math.max(inFree[to], processorFree[to]) + network.processor(message.length);
        traffic.received(to, bytes);
        traffic.waits(to, bytes);
        events.at(processorFree[to], () -> {
            traffic.waitsNoMore(to, bytes);
            happen(to, () -> handle(from, to, message));
        });
    }

    private void handle(int from, int to, byte[] message) {
        try {
            nodes[to].treeNode().onMessage(from, message, now());
        } catch (MalformedMessage e) {
            throw new IllegalStateException("node " + from + " to " + to + " at " + now() + " ns", e);
        }
    }
}
