package org.udckpt.image;

import java.io.IOException;
import java.nio.file.Path;
import org.udckpt.linux.UntrustedPath;

/**
 * Something about an image that its reader or writer cannot accept. There is a kind for each different reaction: a
 * corrupt image means "take an older one", a too new one "take a newer udckpt".
 */
public abstract sealed class ImageError extends IOException {
    private static final long serialVersionUID = 1L;
    private final transient Path file;
    private final long offset;

    private ImageError(Path file, long offset, String what, Throwable cause) {
        super(file + (offset >= 0 ? " at offset 0x" + Long.toHexString(offset) : "") + ": " + what, cause);
        this.file = file;
        this.offset = offset;
    }

    /** The file that is wrong. */
    public Path file() {
        return file;
    }

    /** Offset in bytes in {@link #file()} where it is wrong, or -1 when the file as a whole is. */
    public long offset() {
        return offset;
    }

    /** Bytes are not what the manifest says, or not a form that any version writes. */
    public static final class Corrupt extends ImageError {
        private static final long serialVersionUID = 1L;

        public Corrupt(Path file, long offset, String what) {
            super(file, offset, what, null);
        }

        public Corrupt(Path file, long offset, String what, Throwable cause) {
            super(file, offset, what, cause);
        }
    }

    /** A file that the manifest names, or the manifest itself, is not there. */
    public static final class Missing extends ImageError {
        private static final long serialVersionUID = 1L;

        public Missing(Path file, String what) {
            super(file, -1, what, null);
        }
    }

    /** The image was sealed with another key than the reader's. */
    public static final class Foreign extends ImageError {
        private static final long serialVersionUID = 1L;

        public Foreign(Path file, String what) {
            super(file, -1, what, null);
        }
    }

    /** A key is missing: the reader has none, or not the one that the image is encrypted with. */
    public static final class NoKey extends ImageError {
        private static final long serialVersionUID = 1L;

        public NoKey(Path file, String what) {
            super(file, -1, what, null);
        }
    }

    /** Written by a version of the format that this program no longer reads. */
    public static final class TooOld extends ImageError {
        private static final long serialVersionUID = 1L;

        public TooOld(Path file, String what) {
            super(file, 0, what, null);
        }
    }

    /** Written by a later version of the format than this program knows. */
    public static final class TooNew extends ImageError {
        private static final long serialVersionUID = 1L;

        public TooNew(Path file, String what) {
            super(file, 0, what, null);
        }
    }

    /** Others than the user could exchange the file or directory, or have made it. */
    public static final class Untrusted extends ImageError {
        private static final long serialVersionUID = 1L;

        /** @param cause names it, and the way out */
        public Untrusted(Path file, UntrustedPath cause) {
            super(file, -1, cause.getMessage() + (cause.allowable() ? ", or allow group-writable directories with "
                    + "--shared-dir" : ""), cause);
        }
    }

    /** Somebody else is at work there, for longer than can be waited for. */
    public static final class Busy extends ImageError {
        private static final long serialVersionUID = 1L;

        public Busy(Path file, String what) {
            super(file, -1, what, null);
        }
    }

    /** The file system has no room for the checkpoint (ENOSPC, EDQUOT). */
    public static final class NoSpace extends ImageError {
        private static final long serialVersionUID = 1L;

        public NoSpace(Path file, long offset, Throwable cause) {
            super(file, offset, "no space left on the file system; free some, lower --keep, or give another --dir",
                    cause);
        }
    }
}
