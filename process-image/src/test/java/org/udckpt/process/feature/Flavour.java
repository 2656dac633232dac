package org.udckpt.process.feature;

/** In which way a case is restored. */
enum Flavour {
    /** All memory is in place before the start. The original goes on for a while after the checkpoint. */
    WHOLE(false, false),
    /**
     * The original ends where it stood, and what the kernel says of all processes is the same, line by line, before the
     * first instruction after the restart.
     */
    COMPARED(false, true),
    /** The same, and all memory that can wait comes in while the program runs, slowly. */
    LAZY(true, true);

    private final boolean lazy;
    private final boolean compared;

    Flavour(boolean lazy, boolean compared) {
        this.lazy = lazy;
        this.compared = compared;
    }

    boolean lazy() {
        return lazy;
    }

    boolean compared() {
        return compared;
    }
}
