package org.udckpt.bench.command;

/** A demonstration that did not show what it promises; the message says what was seen instead. */
public final class BenchFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;
    public BenchFailure(String message) {
        super(message);
    }
}
