package org.udckpt.process.restore;

/**
 * A job that cannot be restored. The message names rank, process and object; nothing of the job runs when it is thrown.
 */
public final class RestoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    /** What kind of help the user needs. */
    public enum Reason {
        /** This kernel, machine or program version cannot do it. */
        UNSUPPORTED,
        /** A file that the job uses is missing, or is not what it was. */
        FILE_CHANGED,
        /** Others than the user and root can change a file that the job uses. */
        FORBIDDEN,
        /** There is no room for what the job has in memory or on disk. */
        NO_SPACE,
        /** Another process uses what the job had. */
        IN_USE,
        /** Anything else: a refused system call, a process that died. */
        FAILED
    }

    private final Reason reason;

    public RestoreException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public RestoreException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
