package org.udckpt.transport;

/** A table did not get to a node: the way to it was given up. */
public final class LinkClosedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LinkClosedException(int node) {
        this(node, "its connection was abandoned before it received the table");
    }

    LinkClosedException(int node, String why) {
        super("node " + node + ": " + why);
    }
}
