package org.udckpt.process.kinds.named;

import org.udckpt.linux.FoundFile;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.PathWriters;
import org.udckpt.linux.Writers;
import org.udckpt.process.model.KernelObject;

/** The root directory of process {@code pid}, where it is not that of its mounts (chroot(2)). */
public record RootDirectory(long id, int pid, String path) implements KernelObject {
    /**
     * Null, or why a restart does not enter a directory: another user could have put his own under its name, in which
     * the process would take his files for the system's.
     */
    public static String refusal(String path) {
        String why = replaceable(path);
        return why == null ? null : "its root directory " + path + " (chroot(2)) " + why;
    }

    /** The same without saying what it is. */
    public static String replaceable(String path) {
        try (PathWriters paths = new PathWriters(); FoundFile found = paths.find(path)) {
            Writers others = found.writers().beside(found.own().text());
            return others.nobody() ? null
                    : "can be replaced by " + others
                            + ", and a restart would enter what is there then; let only its owner and root do that";
        } catch (LinuxError e) {
            return "cannot be looked at: " + e.getMessage();
        }
    }
}
