package org.udckpt.process.trace;

/** A traced thread ended (most often by SIGKILL) while it was being used. */
public final class TraceeGone extends RuntimeException {
    private static final long serialVersionUID = 1L;
    public TraceeGone(int tid, WaitStatus status) {
        super("thread " + tid + " ended while it was traced: " + status);
    }
}
