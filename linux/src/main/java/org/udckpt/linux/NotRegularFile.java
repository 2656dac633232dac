package org.udckpt.linux;

/** A link, pipe, device or directory is in the place of a file. */
public final class NotRegularFile extends UntrustedPath {
    private static final long serialVersionUID = 1L;

    NotRegularFile(String path) {
        super(path + " is not a regular file; remove it");
    }
}
