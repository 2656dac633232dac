package org.udckpt.coordination.lookup;

/** Some of a message's entries contradict what is known here; the others were taken. */
public final class RefusedEntries extends Exception {
    private static final long serialVersionUID = 1;

    private final transient long[] taken;

    RefusedEntries(String message, long[] taken) {
        super(message);
        this.taken = taken;
    }

    /** Keys of the entries that were taken, in any order. */
    long[] taken() {
        return taken;
    }
}
