package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.RESOLVE_NO_MAGICLINKS;
import static org.udckpt.linux.LinuxConstants.RESOLVE_NO_SYMLINKS;

import java.lang.foreign.MemorySegment;

/** openat2(2), which follows no symbolic link on the way; negative results are {@code -errno}. */
final class Openat2 {
    private Openat2() {}

    /** A directory, to be read. @param resolve further RESOLVE_ flags, or 0 */
    static long tryDirectory(int directory, String path, long resolve) {
        return tryOpen(directory, path, Syscall.O_RDONLY | Syscall.O_DIRECTORY, 0, resolve);
    }

    static long tryOpen(int directory, String path, int flags, int mode, long resolve) {
        MemorySegment how = Scratch.data().asSlice(0, 24); // struct open_how
        how.set(JAVA_LONG, 0, flags | Syscall.O_CLOEXEC);
        how.set(JAVA_LONG, 8, mode);
        how.set(JAVA_LONG, 16, RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | resolve);
        return Syscall.call(Syscall.OPENAT2, directory, Scratch.string(path), how.address(), how.byteSize());
    }
}
