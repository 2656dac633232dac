package org.udckpt.linux;

/** A file or directory belongs to somebody else, or others could exchange it. The message names it, and the way out. */
public class UntrustedPath extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UntrustedPath(String message) {
        super(message);
    }
}
