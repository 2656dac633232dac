package org.udckpt.lifecycle.restart;

/**
 * Whether the files of one unit that were put back for a restart stay so: they do if the whole job runs, and this unit
 * alone cannot know that. The lead says it to all; a unit that loses its lead before goes by whether its own gates were
 * opened.
 */
final class RestoredFilesTransaction implements AutoCloseable {
    /** {@link RestartFiles}. */
    interface PutBack extends AutoCloseable {
        /** The job runs with them. */
        void stay();

        /** Without {@link #stay} before, all files are put as they were. */
        @Override
        void close();
    }

    private final PutBack files;
    private boolean opened;
    private Boolean said;
    private boolean stayed;

    RestoredFilesTransaction(PutBack files) {
        this.files = files;
    }

    /** This unit's ranks run. */
    synchronized void opened() {
        opened = true;
    }

    /** The lead's word. @param stay whether all ranks of the job run, or have run to their end */
    synchronized void said(boolean stay) {
        if (said == null) {
            said = stay;
            if (stay) {
                stay();
            }
        }
    }

    private void stay() {
        stayed = true;
        files.stay();
    }

    /** When none of the job's processes is left here. */
    @Override
    public synchronized void close() {
        if (!stayed && (said == null ? opened : said)) {
            stay();
        }
        files.close();
    }
}
