package org.udckpt.coordination.lookup;

/**
 * How many messages one part of a node has sent and received, over all nodes as many of the one as of the other if none
 * is under way. One that goes to a node which was given up meanwhile counts as sent for ever: in that incarnation no
 * checkpoint is taken any more. Written by one thread, read by any.
 */
public final class MessageCounts {
    private volatile long sent;
    private volatile long received;

    void send() {
        sent = sent + 1;
    }

    void receive() {
        received = received + 1;
    }

    /** To be read after {@link #received}, so that a sum over all nodes never is equal while a message is under way. */
    public long sent() {
        return sent;
    }

    public long received() {
        return received;
    }
}
