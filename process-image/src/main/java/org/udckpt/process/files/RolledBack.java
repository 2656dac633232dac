package org.udckpt.process.files;

import org.udckpt.linux.Files;

/**
 * What a restart has done to one file. Sizes in bytes, times in nanoseconds since 1970.
 *
 * @param kept under which path the file is found that was there before; null: there was none, or it was not to be kept
 */
public record RolledBack(String path, What what, long fromSize, long fromModifiedNs, long toSize, long toModifiedNs,
        String kept) {
    /** What was done with the file at {@link #path}. */
    public enum What {
        /** The file had another content. */
        REPLACED,
        /** The file did not exist. */
        PUT_BACK,
        /** The file was made after the checkpoint, in a place that the user had named. */
        MADE_SINCE,
        /** Its content is not in the image; what had been appended was cut off. */
        CUT
    }

    /** @param now what was there; null: nothing */
    static RolledBack from(Files.Stat now, String path, long toSize, long toModifiedNs) {
        return now == null ? new RolledBack(path, What.PUT_BACK, 0, 0, toSize, toModifiedNs, null)
                : new RolledBack(path, What.REPLACED, now.size(), now.modified(), toSize, toModifiedNs, null);
    }

    /** The same; what was there is found there. */
    RolledBack keptAs(String there) {
        return new RolledBack(path, what, fromSize, fromModifiedNs, toSize, toModifiedNs, there);
    }
}
