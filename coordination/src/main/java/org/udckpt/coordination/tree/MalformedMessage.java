package org.udckpt.coordination.tree;

/** Bytes that no member of this job sends: to be refused, with the connection that they came by. */
public final class MalformedMessage extends Exception {
    private static final long serialVersionUID = 1;

    public MalformedMessage(String message) {
        super(message);
    }

    public MalformedMessage(String message, Throwable cause) {
        super(message, cause);
    }
}
