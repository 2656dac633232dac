package org.udckpt.process.kinds.base;

import static org.udckpt.linux.LinuxConstants.O_NOCTTY;

import org.udckpt.linux.Syscall;

/** Flags of open(2) when something is opened again. */
public final class OpenFlags {
    /** Flags that act once, when a file is opened; O_NOCTTY is always right here. */
    private static final int ONCE = Syscall.O_CREAT | Syscall.O_EXCL | Syscall.O_TRUNC;

    private OpenFlags() {}

    /** A file of O_TMPFILE, which includes O_DIRECTORY, is opened again as the file that it is. */
    public static int kept(int flags) {
        return ((flags & Syscall.O_TMPFILE) == Syscall.O_TMPFILE ? flags & ~Syscall.O_TMPFILE : flags) & ~ONCE
                | O_NOCTTY;
    }
}
