package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** The names in a directory, by getdents64(2). */
final class FolderNames {
    /** Where struct linux_dirent64 has its own length, and its name. */
    private static final int LENGTH = 16, NAME = 19;

    private FolderNames() {}

    /** All names but "." and "..", in the order of their characters. */
    static List<String> of(Folder folder) {
        int fd = folder.descriptor();
        LinuxError.check(Syscall.call(Syscall.LSEEK, fd, 0, 0), "list " + folder.path());
        MemorySegment data = Scratch.data();
        List<String> names = new ArrayList<>();
        for (long n; (n = LinuxError.check(Syscall.call(Syscall.GETDENTS64, fd, data.address(), Scratch.DATA_BYTES),
                "list " + folder.path())) > 0;) {
            for (long at = 0; at < n; at += data.get(JAVA_SHORT_UNALIGNED, at + LENGTH) & 0xffff) {
                String name = name(data, at + NAME);
                if (!name.equals(".") && !name.equals("..")) {
                    names.add(name);
                }
            }
        }
        names.sort(null);
        return names;
    }

    private static String name(MemorySegment data, long at) {
        long end = at;
        while (data.get(JAVA_BYTE, end) != 0) {
            end++;
        }
        return RawText.decode(data.asSlice(at, end - at).toArray(JAVA_BYTE));
    }
}
