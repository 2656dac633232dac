package org.udckpt.process.files;

/**
 * A file that a restart would put back is being written to by a process that runs; the message names both and the way
 * out. Nothing was changed.
 */
public final class FilesInUse extends RuntimeException {
    private static final long serialVersionUID = 1L;

    FilesInUse(String path, String writer) {
        super(path + ", which this restart would restore, is open for writing in " + writer
                + ", perhaps because the job, or a copy of it, still runs: end it first, or restart with --map-path "
                + "OLD=NEW for the files' directory");
    }
}
