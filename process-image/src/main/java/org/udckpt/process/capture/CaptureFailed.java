package org.udckpt.process.capture;

/**
 * A capture that could succeed another time did not now: a process ended, or a thread did not stop. The job goes on.
 */
public final class CaptureFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;
    public CaptureFailed(String message) {
        super(message);
    }

    public CaptureFailed(String message, Throwable cause) {
        super(message, cause);
    }
}
