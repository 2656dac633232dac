package org.udckpt.process.names;

/**
 * A name that the job had cannot be made again. The message says what stands in the way, whose it is, and the way out;
 * nothing of it was touched.
 */
public final class NameRefused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What kind of help the user needs. */
    public enum Reason {
        /** Somebody uses it now. */
        IN_USE,
        /** The name is now of another kind of file, or not the job's. */
        ANOTHERS,
        /** The directory has gone, and is not the job's to make. */
        NO_DIRECTORY
    }

    private final Reason reason;

    NameRefused(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
