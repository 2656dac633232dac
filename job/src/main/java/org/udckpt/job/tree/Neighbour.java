package org.udckpt.job.tree;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.TreeMap;

/**
 * The parent or a child: when it was last heard, and two streams of numbered messages, which arrive in order and once whatever the links do.
 * What is not acknowledged is sent again, a few messages from the oldest one on and then more rarely, so that a link that is only slow is
 * not flooded.
 */
final class Neighbour {
    private static final int AT_ONCE = 16;
    private static final int MOST_DOUBLINGS = 1; // an ABORT that is lost with its repetition must not wait for long
    private static final int MOST_EARLY = 1 << 16;
    /** What comes early beyond that is not kept, and so not acknowledged: it is sent again. */
    static final int MOST_EARLY_BYTES = AT_ONCE * Links.MAX_MESSAGE_BYTES;

    private final int node;
    private final int self;
    private final int life;
    private final Links links;
    private final Deque<Message> unacknowledged = new ArrayDeque<>();
    private final TreeMap<Integer, Message> early = new TreeMap<>();
    private long heard;
    private long repeatAt = Long.MAX_VALUE;
    private int doublings;
    private int sent;
    private int got;
    private int earlyBytes;

    Neighbour(int node, int self, int life, Links links, long heard) {
        this.node = node;
        this.self = self;
        this.life = life;
        this.links = links;
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

    void send(Message.Kind kind, byte[] body, long now, Timing timing) {
        if (body.length > Message.MAX_BODY_BYTES) {
            throw new IllegalArgumentException("node " + self + " to " + node + ": a message of " + body.length + " bytes, at most " + Message.MAX_BODY_BYTES + " are allowed");
        }
        Message message = new Message(kind, life, got, ++sent, body);
        if (unacknowledged.isEmpty()) {
            repeatAt = now + pause(timing);
        }
        unacknowledged.add(message);
        links.send(node, message.encode());
    }

    /** A sign of life, which also acknowledges; and what may have been lost. */
    void beat(Message.Kind kind, Message.Beat beat, long now, Timing timing) {
        links.send(node, new Message(kind, life, got, 0, beat.encode()).encode());
        if (!unacknowledged.isEmpty() && now - repeatAt >= 0) {
            unacknowledged.stream().limit(AT_ONCE)
                    .forEach(m -> links.send(node, new Message(m.kind(), life, got, m.number(), m.body()).encode()));
            doublings = Math.min(doublings + 1, MOST_DOUBLINGS);
            repeatAt = now + pause(timing);
        }
    }

    /** @return the messages that are next in order, which may be none */
    List<Message> take(Message message, long now, Timing timing) throws MalformedMessage {
        heard = now;
        acknowledged(message.got(), now, timing);
        if (message.number() == 0 || message.number() <= got) {
            return List.of();
        }
        if (message.number() - got > MOST_EARLY) {
            throw new MalformedMessage("message " + message.number() + " of node " + node + ", where " + (got + 1) + " is next");
        }
        if (message.number() != got + 1) {
            if (earlyBytes + message.body().length <= MOST_EARLY_BYTES && early.putIfAbsent(message.number(), message) == null) {
                earlyBytes += message.body().length;
            }
            return List.of();
        }
        got++;
        List<Message> next = new ArrayList<>(List.of(message));
        while (!early.isEmpty() && early.firstKey() == got + 1) {
            got++;
            Message waited = early.pollFirstEntry().getValue();
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

    /** Acknowledgements come with beats, so one may be two beats old without anything being lost. */
    private long pause(Timing timing) {
        return 3 * timing.beat() << doublings;
    }
}
