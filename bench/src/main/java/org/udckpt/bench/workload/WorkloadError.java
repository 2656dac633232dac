package org.udckpt.bench.workload;

import java.nio.file.Path;

/** A description that is not one; the message names its file, the line if there is one, and what would be right. */
public final class WorkloadError extends RuntimeException {
    private static final long serialVersionUID = 1L;
    public WorkloadError(String message) {
        super(message);
    }

    static WorkloadError at(Path file, int line, String message) {
        return new WorkloadError(file + ":" + line + ": " + message);
    }

    static WorkloadError in(Path file, String message) {
        return new WorkloadError(file + ": " + message);
    }
}
