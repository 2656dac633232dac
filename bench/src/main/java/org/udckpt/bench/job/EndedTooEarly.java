package org.udckpt.bench.job;

/**
 * The application came to its end before something was to be done to it: the run says nothing, and is made again with
 * a shorter delay.
 */
public final class EndedTooEarly extends Exception {
    private static final long serialVersionUID = 1;
}
