package org.udckpt.bench;

/** A demonstration that did not show what it promises; the message says what was seen instead. */
public final class DemoFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;
    public DemoFailure(String message) {
        super(message);
    }
}
