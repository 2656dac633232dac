package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * The file system that an open file is in (fstatfs(2)).
 *
 * @param type      its magic number
 * @param blockSize in bytes, to which O_DIRECT must keep
 */
public record FileSystemFacts(long type, long blockSize) {
    private static final long TMPFS = 0x01021994;

    public static FileSystemFacts of(int descriptor) {
        MemorySegment data = Scratch.data(); // struct statfs of x86-64
        LinuxError.check(Syscall.call(Syscall.FSTATFS, descriptor, data.address()),
                "fstatfs of descriptor " + descriptor);
        long fragment = data.get(JAVA_LONG, 72);
        return new FileSystemFacts(data.get(JAVA_LONG, 0), fragment != 0 ? fragment : data.get(JAVA_LONG, 8));
    }

    public boolean isTmpfs() {
        return type == TMPFS;
    }
}
