package org.udckpt.process.kinds.inotify;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.AT_SYMLINK_FOLLOW;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/**
 * What fdinfo tells of a watch (proc_pid_fdinfo(5)).
 *
 * @param device as the kernel has it: 20 bits for the minor number
 * @param handle of the file (open_by_handle_at(2)); empty: its file system has none
 */
record WatchedFile(int number, long inode, long device, int mask, int handleType, byte[] handle) {
    private static final int NAME_TO_HANDLE_AT = 303;
    /** Room for a handle, behind its size and type. */
    private static final int HANDLE_AT = 8, HANDLE_MOST = 128, MOUNT_AT = HANDLE_AT + HANDLE_MOST;
    /** AT_HANDLE_FID: file systems of which no file can be opened by its handle have one, too (Linux 6.5). */
    private static final int ONLY_TO_COMPARE = 0x200;
    /** Words of a line that tells a handle. */
    private static final int WITH_HANDLE = 17;

    /**
     * A line {@code inotify wd:HEX ino:HEX sdev:HEX mask:HEX ignored_mask:HEX fhandle-bytes:HEX fhandle-type:HEX
     * f_handle:HEX}, of which the last three may be missing.
     */
    static WatchedFile of(String line) {
        String[] words = line.strip().split("[\\s:]+");
        boolean handle = words.length >= WITH_HANDLE;
        return new WatchedFile(Integer.parseInt(words[2], 16), Long.parseUnsignedLong(words[4], 16),
                Long.parseLong(words[6], 16), Integer.parseUnsignedInt(words[8], 16),
                handle ? Integer.parseInt(words[14], 16) : 0,
                handle ? HexFormat.of().parseHex(words[16]) : new byte[0]);
    }

    /** Of the file system, as mountinfo has it. */
    String deviceNumbers() {
        return (device >> 20) + ":" + (device & 0xfffff);
    }

    /** struct file_handle, until the next use of the scratch memory. */
    MemorySegment handleStruct() {
        MemorySegment struct = Scratch.data();
        struct.set(JAVA_INT, 0, handle.length);
        struct.set(JAVA_INT, 4, handleType);
        MemorySegment.copy(handle, 0, struct, JAVA_BYTE, HANDLE_AT, handle.length);
        return struct;
    }

    /**
     * Whether it is what is under this path now: by its handle, which no later file will have; by its numbers where the
     * file system has no handles.
     *
     * @param follow where the path leads to is meant, and not a symbolic link itself
     */
    boolean isAt(String path, boolean follow) {
        Files.Stat stat = follow ? Files.tryStat(path) : Files.tryLinkStat(path);
        if (stat == null || stat.inode() != inode) {
            return false;
        }
        int how = follow ? AT_SYMLINK_FOLLOW : 0;
        long result = ask(path, how | ONLY_TO_COMPARE);
        result = result == -LinuxError.EINVAL ? ask(path, how) : result;
        MemorySegment struct = Scratch.data();
        if (result < 0 || handle.length == 0) {
            return kernelDevice(stat.device()) == device;
        }
        byte[] there = struct.asSlice(HANDLE_AT, struct.get(JAVA_INT, 0)).toArray(JAVA_BYTE);
        return struct.get(JAVA_INT, 4) == handleType && Arrays.equals(there, handle);
    }

    private static long ask(String path, int how) {
        MemorySegment struct = Scratch.data();
        struct.set(JAVA_INT, 0, HANDLE_MOST);
        return Syscall.call(NAME_TO_HANDLE_AT, AT_FDCWD, Scratch.string(path), struct.address(),
                struct.address() + MOUNT_AT, how);
    }

    /** What stat(2) says, as the kernel has it. */
    private static long kernelDevice(long device) {
        long major = device >>> 8 & 0xfff | device >>> 32 & 0xfffff000L;
        long minor = device & 0xff | device >>> 12 & 0xfff00;
        return major << 20 | minor;
    }
}
