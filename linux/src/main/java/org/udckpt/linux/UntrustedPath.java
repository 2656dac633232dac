package org.udckpt.linux;

/** A file or directory belongs to somebody else, or others could exchange it. The message names it, and the way out. */
public class UntrustedPath extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean allowable;

    public UntrustedPath(String message) {
        this(message, false);
    }

    /** @param allowable {@link Trust#GROUP} would do */
    UntrustedPath(String message, boolean allowable) {
        super(message);
        this.allowable = allowable;
    }

    /** Whether it is refused only because nobody allowed directories of a group. */
    public boolean allowable() {
        return allowable;
    }
}
