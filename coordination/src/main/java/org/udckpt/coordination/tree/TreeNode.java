package org.udckpt.coordination.tree;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One node's part of the tree (docs/internals/coordination.md): heartbeats to its neighbours, calls down, results up. A
 * pure state machine: it is told of messages and of the time, in nanoseconds of any clock that does not go back, and
 * one thread at a time may use it.
 *
 * <p>A child that is silent for a lease is lost, for good and for everybody. A parent that is silent, or has itself no
 * way to the root, is given up for the next node above it that is not known to be lost; a node that has none left is
 * over, and so is one that hears that it was declared lost. A node of level n knows it after n x (lease + beat): those
 * above it that are over say so at once.
 */
public final class TreeNode {
    private final int self;
    private final int incarnation;
    private final Tree tree;
    private final Timing timing;
    private final TreeTransport transport;
    private final TreeListener part;
    private final TreeMap<Integer, Link> children = new TreeMap<>();
    private final Set<Integer> lost = new TreeSet<>();
    private Link parent;
    private Collective collective;
    private long lastCall;
    private long nextHeartbeat;
    private boolean over;

    /**
     * @param self   this node's number
     * @param incarnation   the job's: members of another incarnation are not listened to
     * @param timing the same at all nodes
     * @param now    the node waits for its neighbours from now on
     */
    public TreeNode(int self, int incarnation, Tree tree, Timing timing, TreeTransport transport, TreeListener part,
            long now) {
        if (self < 0 || self >= tree.nodes()) {
            throw new IllegalArgumentException("node " + self + " of " + tree.nodes());
        }
        this.self = self;
        this.incarnation = incarnation;
        this.tree = tree;
        this.timing = timing;
        this.transport = transport;
        this.part = part;
        this.nextHeartbeat = now;
        long silentSince = now + timing.start() - timing.lease();
        for (int child = tree.firstChild(self); child < tree.endOfChildren(self); child++) {
            children.put(child, link(child, silentSince));
        }
        parent = self == 0 ? null : link(tree.parent(self), silentSince);
    }

    public int self() {
        return self;
    }

    public Tree tree() {
        return tree;
    }

    /** The node above; -1 at the root. */
    public int parent() {
        return parent == null ? -1 : parent.node();
    }

    /** The living nodes right below. */
    public Set<Integer> children() {
        return Set.copyOf(children.keySet());
    }

    /** The nodes that are known to be lost. */
    public Set<Integer> lost() {
        return Set.copyOf(lost);
    }

    /** Whether this node has lost its way to the root. */
    public boolean isOver() {
        return over;
    }

    /** When {@link #onTimer} wants to be called next; no call, message or answer makes it later. */
    public long due() {
        boolean waits = collective != null && !over && !collective.isAnswered();
        return waits && collective.deadline() - nextHeartbeat < 0 ? collective.deadline() : nextHeartbeat;
    }

    /** Bytes that were sent and are kept until they are acknowledged. */
    public long waitingBytes() {
        return (parent == null ? 0 : parent.waitingBytes())
                + children.values().stream().mapToLong(Link::waitingBytes).sum();
    }

    /**
     * A message has arrived.
     *
     * @param from the sender, as its end of the link says
     * @throws MalformedMessage if no member sends such a message; nothing has changed then, except if it is a part that
     *     refuses it
     */
    public void onMessage(int from, byte[] bytes, long now) throws MalformedMessage {
        TreeMessage message = TreeMessage.decode(bytes);
        if (message.incarnation() != incarnation) {
            return;
        }
        if (over) {
            refuse(from, message.kind());
            return;
        }
        TreeMessage.Heartbeat heartbeat =
                message.kind().isHeartbeat() ? TreeMessage.Heartbeat.decode(message.body(), tree.nodes()) : null;
        Link sender = link(from, message.kind(), now);
        if (sender == null) {
            return;
        }
        List<TreeMessage> inOrder = sender.take(message, now, timing);
        if (heartbeat != null) {
            heard(from, message.kind(), heartbeat, now);
        }
        handle(from, inOrder, now);
    }

    /**
     * All nodes are there and are being told of each other: who is not heard of within {@code longest} and two leases
     * from now is lost, and need not be waited for as long as starting may take. (One lease for the way to each other,
     * which may still have to be made.)
     *
     * @param longest until all have been told, in nanoseconds
     */
    public void allHaveCome(long longest, long now) {
        long due = now + longest + timing.lease();
        children.values().forEach(child -> child.heardAtLatest(due));
        if (parent != null) {
            parent.heardAtLatest(due);
        }
    }

    /** Time has passed; may be called at any time. */
    public void onTimer(long now) {
        if (now - nextHeartbeat >= 0) {
            nextHeartbeat = now + timing.heartbeat();
            if (!over) {
                endLeases(now);
            }
            heartbeat(now);
        }
        if (collective != null && !over) {
            collective.late(now);
            answered(now);
        }
    }

    /** At the root: begins a call, and ends the one before, if it has not ended. @return its number */
    public long call(int op, boolean all, long budget, byte[] body, long now) {
        if (self != 0) {
            throw new IllegalStateException("node " + self + " is not the root");
        }
        Call call = new Call(lastCall + 1, op, all, budget, body);
        begin(call, now);
        return call.id();
    }

    /**
     * The node's own work of a call has ended; of an earlier call than the newest one: nothing happens.
     *
     * @param failure why it failed, or null
     * @param sums    what the node counts, added up over all nodes; at most 255
     */
    public void answer(long call, String failure, long[] sums, long now) {
        TreeMessage.check(sums);
        if (!over && collective != null && collective.call().id() == call && !collective.isAnswered()) {
            collective.own(failure == null ? null : new CallResult.Failure(self, failure), sums, now);
            answered(now);
        }
    }

    /**
     * Sends to the parent or a child, in order and once, as long as it is one.
     *
     * @param body at most {@link TreeTransport#MAX_MESSAGE_BYTES} less 64
     */
    public void post(int link, byte[] body, long now) {
        Link to = parent != null && parent.node() == link ? parent : children.get(link);
        if (to != null && !over) {
            to.send(TreeMessage.Kind.POST, body, now, timing);
        }
    }

    private Link link(int node, long heard) {
        return new Link(node, self, incarnation, transport, heard);
    }

    /**
     * The neighbour that this message is from, or null if it does not count. A descendant whose parents are silent
     * becomes a child.
     */
    private Link link(int from, TreeMessage.Kind kind, long now) {
        boolean down = kind == TreeMessage.Kind.HEARTBEAT_DOWN;
        if (parent != null && parent.node() == from) {
            return kind == TreeMessage.Kind.HEARTBEAT_UP ? null : parent;
        }
        Link child = down ? null : children.get(from);
        if (child != null || kind != TreeMessage.Kind.HEARTBEAT_UP || from < 0 || from >= tree.nodes()
                || !tree.isBelow(from, self)) {
            return child;
        }
        if (lost.contains(from)) {
            refuse(from, kind);
            return null;
        }
        Link adopted = link(from, now);
        children.put(from, adopted);
        if (collective != null) {
            adopted.send(TreeMessage.Kind.CALL, TreeMessage.encode(collective.down(now, timing.heartbeat())), now,
                    timing);
            collective.adopted(from, now);
            answered(now);
        }
        return adopted;
    }

    /**
     * The sender lives, but was given up, or has come to one who is over: it must learn that this is no way to the
     * root.
     */
    private void refuse(int from, TreeMessage.Kind kind) {
        if (kind == TreeMessage.Kind.HEARTBEAT_UP) {
            transport.send(from, new TreeMessage(TreeMessage.Kind.HEARTBEAT_DOWN, incarnation, 0, 0,
                    new TreeMessage.Heartbeat(over, lostNodes()).encode()).encode());
        }
    }

    private void heard(int from, TreeMessage.Kind kind, TreeMessage.Heartbeat heartbeat, long now) {
        boolean fromParent = kind == TreeMessage.Kind.HEARTBEAT_DOWN;
        for (int node : heartbeat.lost()) {
            if (node == self && fromParent) {
                over("it was silent for longer than its lease, and the nodes above it consider it lost", now);
                return;
            }
            // A child may say it of a node that has come here meanwhile: it is lost too, or that child would refuse
            // every call of all for ever.
            if (node != self && (fromParent || tree.isBelow(node, self))) {
                lose(node, "silent for longer than its lease", now);
            }
        }
        if (fromParent && heartbeat.over()) {
            climb(now);
        }
    }

    /** All of them count as arrived, so that one which is malformed must not take those behind it along. */
    private void handle(int from, List<TreeMessage> messages, long now) throws MalformedMessage {
        MalformedMessage first = null;
        for (TreeMessage message : messages) {
            if (over) {
                break;
            }
            try {
                handle(from, message, now);
            } catch (MalformedMessage e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }

    private void handle(int from, TreeMessage message, long now) throws MalformedMessage {
        boolean fromParent = parent != null && from == parent.node();
        switch (message.kind()) {
            case CALL -> {
                Call call = TreeMessage.call(message.body());
                if (!fromParent) {
                    throw new MalformedMessage("a call from node " + from + ", which is not above");
                }
                heard(call, now);
            }
            case RESULT -> {
                TreeMessage.Result result = TreeMessage.Result.decode(message.body());
                if (fromParent) {
                    throw new MalformedMessage("a result from node " + from + ", which is above");
                }
                if (collective != null && collective.call().id() == result.call() && !collective.isAnswered()) {
                    collective.child(from, result.tally(), now);
                    answered(now);
                }
            }
            case POST -> part.received(from, message.body(), now);
            case HEARTBEAT_UP, HEARTBEAT_DOWN -> throw new MalformedMessage("a beat has no number");
        }
    }

    private void heard(Call call, long now) {
        if (call.id() > lastCall) {
            begin(call, now);
        } else if (call.id() == lastCall && collective.isAnswered()) {
            collective.again();
            result(now); // a new parent, which has not got it
        }
    }

    private void begin(Call call, long now) {
        lastCall = call.id();
        collective = new Collective(call, self, tree.level(self), children.keySet(), now);
        if (call.all() && !lost.isEmpty()) {
            collective.lost(lost.iterator().next(), "was lost before the call", now);
            answered(now);
            return;
        }
        byte[] body = TreeMessage.encode(collective.down(now, timing.heartbeat()));
        children.values().forEach(child -> child.send(TreeMessage.Kind.CALL, body, now, timing));
        part.call(call, now);
    }

    /** Passes on what the call has come to, if it has come to anything just now. */
    private void answered(long now) {
        if (collective.isNewlyAnswered()) {
            result(now);
        }
    }

    private void result(long now) {
        if (parent != null) {
            parent.send(TreeMessage.Kind.RESULT, new TreeMessage.Result(lastCall, collective.tally()).encode(), now,
                    timing);
        } else {
            part.ended(collective.call(), collective.tally(), now);
        }
    }

    private void endLeases(long now) {
        List<Integer> silent = new ArrayList<>();
        children.values().stream().filter(child -> child.isSilent(now, timing.lease()))
                .forEach(child -> silent.add(child.node()));
        silent.forEach(node -> lose(node, "silent for longer than its lease", now));
        if (parent != null && parent.isSilent(now, timing.lease())) {
            climb(now);
        }
    }

    private void climb(long now) {
        int above = parent.node();
        do {
            if (above == 0) {
                over("the coordinator is silent for longer than its lease", now);
                return;
            }
            above = tree.parent(above);
        } while (lost.contains(above));
        parent = link(above, now);
        // which makes this node its child
        parent.heartbeat(TreeMessage.Kind.HEARTBEAT_UP, new TreeMessage.Heartbeat(false, lostNodes()), now, timing);
        part.attached(above, now);
    }

    private void lose(int node, String why, long now) {
        if (!lost.add(node)) {
            return;
        }
        children.remove(node);
        part.lost(node, now);
        if (collective != null && !collective.isAnswered()) {
            collective.lost(node, why, now);
            answered(now);
        }
    }

    private void over(String why, long now) {
        over = true;
        part.over(why, now);
        heartbeat(now);
    }

    /** A node that has ended still tells the nodes below it, but not its parent. */
    private void heartbeat(long now) {
        TreeMessage.Heartbeat heartbeat = new TreeMessage.Heartbeat(over, lostNodes());
        children.values().forEach(child -> child.heartbeat(TreeMessage.Kind.HEARTBEAT_DOWN, heartbeat, now, timing));
        if (parent != null && !over) {
            parent.heartbeat(TreeMessage.Kind.HEARTBEAT_UP, heartbeat, now, timing);
        }
    }

    private int[] lostNodes() {
        return lost.stream().mapToInt(Integer::intValue).toArray();
    }
}
