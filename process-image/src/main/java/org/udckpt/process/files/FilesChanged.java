package org.udckpt.process.files;

/**
 * The job's files cannot be put back; the message names the file and what stands in the way. All are what they were
 * before.
 */
public final class FilesChanged extends RuntimeException {
    private static final long serialVersionUID = 1L;

    FilesChanged(String message) {
        super(message);
    }
}
