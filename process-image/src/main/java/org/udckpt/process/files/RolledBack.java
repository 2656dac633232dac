package org.udckpt.process.files;

/**
 * What a restart has done to one file. Sizes in bytes, times in nanoseconds since 1970.
 *
 * @param kept under which path the file is found that was there before; null: there was none, or it was not to be kept
 */
public record RolledBack(String path, What what, long fromSize, long fromModifiedNs, long toSize, long toModifiedNs, String kept) {
    /** Of the file at {@link #path}. */
    public enum What {
        /** It had another content. */
        REPLACED,
        /** It was not there. */
        PUT_BACK,
        /** It was made after the checkpoint, in a place that the user had named. */
        MADE_SINCE,
        /** Its content is not in the image; what had been appended was cut off. */
        CUT
    }
}
