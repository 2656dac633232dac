package org.udckpt.coordination.tree;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.TreeMap;

/**
 * The parent or a child: when it was last heard, and two streams of numbered messages, which arrive in order and once
 * whatever the links do. What is not acknowledged is sent again, a few messages from the oldest one on and then more
 * rarely, so that a link that is only slow is not flooded.
 */
final class Link {
    private static final int AT_ONCE = 16;
    private static final int MOST_DOUBLINGS = 1; // an ABORT that is lost with its repetition must not wait for long
    private static final int MOST_EARLY = 1 << 16;
    /** What comes early beyond that is not kept, and so not acknowledged: it is sent again. */
    static final int MOST_EARLY_BYTES = AT_ONCE * TreeTransport.MAX_MESSAGE_BYTES;

    private final int node;
    private final int self;
    private final int incarnation;
    private final TreeTransport transport;
    private final Deque<TreeMessage> unacknowledged = new ArrayDeque<>();
    private final TreeMap<Integer, TreeMessage> early = new TreeMap<>();
    private long heard;
    private long repeatAt = Long.MAX_VALUE;
    private int doublings;
    private int sent;
    private int got;
    private int earlyBytes;

    Link(int node, int self, int incarnation, TreeTransport transport, long heard) {
        this.node = node;
        this.self = self;
        this.incarnation = incarnation;
        this.transport = transport;
        this.heard = heard;
    }

    int node() {
        return node;
    }

    /** Its first word is due by then at least, in place of a later time. */
    void heardAtLatest(long time) {
        if (heard - time > 0) {
            heard = time;
        }
    }

    boolean isSilent(long now, long lease) {
        return now - heard > lease;
    }

    void send(TreeMessage.Kind kind, byte[] body, long now, Timing timing) {
        if (body.length > TreeMessage.MAX_BODY_BYTES) {
            throw new IllegalArgumentException("node " + self + " to " + node + ": a message of " + body.length
                    + " bytes, at most " + TreeMessage.MAX_BODY_BYTES + " are allowed");
        }
        TreeMessage message = new TreeMessage(kind, incarnation, got, ++sent, body);
        if (unacknowledged.isEmpty()) {
            repeatAt = now + pause(timing);
        }
        unacknowledged.add(message);
        transport.send(node, message.encode());
    }

    /** A heartbeat, which also acknowledges; and what may have been lost. */
    void heartbeat(TreeMessage.Kind kind, TreeMessage.Heartbeat heartbeat, long now, Timing timing) {
        transport.send(node, new TreeMessage(kind, incarnation, got, 0, heartbeat.encode()).encode());
        if (!unacknowledged.isEmpty() && now - repeatAt >= 0) {
            unacknowledged.stream().limit(AT_ONCE)
                    .forEach(m -> transport.send(node,
                            new TreeMessage(m.kind(), incarnation, got, m.number(), m.body()).encode()));
            doublings = Math.min(doublings + 1, MOST_DOUBLINGS);
            repeatAt = now + pause(timing);
        }
    }

    /** @return the messages that are next in order, which may be none */
    List<TreeMessage> take(TreeMessage message, long now, Timing timing) throws MalformedMessage {
        heard = now;
        acknowledged(message.got(), now, timing);
        if (message.number() == 0 || message.number() <= got) {
            return List.of();
        }
        if (message.number() - got > MOST_EARLY) {
            throw new MalformedMessage(
                    "message " + message.number() + " of node " + node + ", where " + (got + 1) + " is next");
        }
        if (message.number() != got + 1) {
            if (earlyBytes + message.body().length <= MOST_EARLY_BYTES
                    && early.putIfAbsent(message.number(), message) == null) {
                earlyBytes += message.body().length;
            }
            return List.of();
        }
        got++;
        List<TreeMessage> next = new ArrayList<>(List.of(message));
        while (!early.isEmpty() && early.firstKey() == got + 1) {
            got++;
            TreeMessage waited = early.pollFirstEntry().getValue();
            earlyBytes -= waited.body().length;
            next.add(waited);
        }
        return next;
    }

    /** Bytes that wait for their acknowledgement. */
    long waitingBytes() {
        return unacknowledged.stream().mapToLong(m -> m.body().length).sum();
    }

    private void acknowledged(int number, long now, Timing timing) {
        boolean some = false;
        while (!unacknowledged.isEmpty() && unacknowledged.peekFirst().number() <= number) {
            unacknowledged.removeFirst();
            some = true;
        }
        if (some) {
            doublings = 0;
            repeatAt = now + pause(timing);
        }
    }

    /** Acknowledgements come with heartbeats, so one may be two heartbeats old without anything being lost. */
    private long pause(Timing timing) {
        return 3 * timing.heartbeat() << doublings;
    }
}
