package org.udckpt.process.files;

/**
 * The job's files cannot be saved as they are, or as the user wants them; the message names the file and the way out.
 */
public final class FilesRefused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public FilesRefused(String message) {
        super(message);
    }
}
