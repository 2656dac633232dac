package org.udckpt.ud;

/** A rank's library could not do what the agent asked; the message names the rank, the process and the reason. */
public final class LibraryException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public LibraryException(String message) {
        super(message);
    }
}
