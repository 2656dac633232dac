package org.udckpt.process.model;

/**
 * A layer of an overlay that only the job has mounted (Documentation/filesystems/overlayfs.rst), in the order of its
 * options.
 *
 * @param overlay its {@link JobFilesystem}
 * @param option lowerdir, upperdir or workdir
 * @param layer the directory as the option names it, which need lead nowhere
 * @param outside where the directory is in the namespace in which the job was started; "": not there
 * @param filesystem the {@link JobFilesystem} of which {@code part} is the directory; 0: none. Where there is nothing
 *     outside either, a restart makes a directory for what the overlay shows besides the other layers
 */
public record OverlayLayer(long id, long overlay, String option, String layer, String outside, long filesystem,
        String part) implements KernelObject {
    public static final String LOWER = "lowerdir", UPPER = "upperdir", WORK = "workdir";

    /** Whether a restart makes the directory. */
    public boolean made() {
        return outside.isEmpty() && filesystem == 0;
    }
}
