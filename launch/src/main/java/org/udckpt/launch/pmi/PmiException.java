package org.udckpt.launch.pmi;

/** A rank broke the PMI-1 protocol. */
public final class PmiException extends Exception {
    private static final long serialVersionUID = 1L;

    public PmiException(String message) {
        super(message);
    }
}
