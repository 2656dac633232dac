package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** What statfs(2) says of the file system that an open file is on. @param room bytes that this user can still write */
public record FileSystem(long type, long room) {
    public static final long TMPFS = 0x01021994;

    public static FileSystem of(Folder folder) {
        MemorySegment data = Scratch.data(); // struct statfs: type, block size, blocks, free, available
        LinuxError.check(Syscall.call(Syscall.FSTATFS, folder.descriptor(), data.address()), "statfs " + folder.path());
        return new FileSystem(data.get(JAVA_LONG, 0), data.get(JAVA_LONG, 8) * data.get(JAVA_LONG, 32));
    }
}
