package org.udckpt.process.files;

/** A file was written while it was being saved, so that its content at the stop is lost: this checkpoint cannot be. */
public final class FileTorn extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean savedInNextStop;

    /** @param savedInNextStop another capture has it as it is then */
    public FileTorn(String message, boolean savedInNextStop) {
        super(message);
        this.savedInNextStop = savedInNextStop;
    }

    /** The next capture with the same {@link HotFiles} will copy it while the job stands still. */
    public boolean savedInNextStop() {
        return savedInNextStop;
    }
}
