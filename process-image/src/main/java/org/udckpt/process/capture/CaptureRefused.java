package org.udckpt.process.capture;

/**
 * The job holds something that cannot be captured. It was found before anything was changed, and the job goes on.
 * The message names the rank, the process and, where there is one, the descriptor, and says what to do.
 */
public final class CaptureRefused extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final int rank;
    private final int pid;
    private final int descriptor;

    CaptureRefused(TracedProcess process, int descriptor, String reason) {
        super("%s%s: %s".formatted(process, descriptor < 0 ? "" : ", descriptor " + descriptor, reason));
        this.rank = process.rank;
        this.pid = process.pid;
        this.descriptor = descriptor;
    }

    public int rank() {
        return rank;
    }

    /** As the agent numbers it. */
    public int pid() {
        return pid;
    }

    /** -1: not about a descriptor. */
    public int descriptor() {
        return descriptor;
    }
}
