package org.udckpt.image.write;

/** The phases of a checkpoint, in order. The application stands still from the first to {@link #RESUME}. */
public enum Phase {
    SUSPEND,
    DRAIN,
    SNAPSHOT,
    /**
     * Time of one node of several in which it had done its part and others had not. Once for all phases of the stop.
     */
    WAIT,
    RESUME,
    WRITE,
    COMMIT;

    /** Whether the application stands still in this phase. */
    public boolean stops() {
        return compareTo(RESUME) <= 0;
    }
}
