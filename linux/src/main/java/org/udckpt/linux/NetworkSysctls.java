package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The settings of a network namespace in /proc/sys/net, which shows to each process those of the namespace that it is
 * in (proc_sys_net(5)).
 */
public final class NetworkSysctls {
    private static final String ALL = "/proc/sys/", TOP = "net";
    /** Of a struct linux_dirent64: length, type and name of an entry; the type of a directory. */
    private static final int ENTRY_LENGTH = 16, ENTRY_TYPE = 18, ENTRY_NAME = 19, DIRECTORY = 4;

    /** Files that are read at once, and bytes of a value. */
    private static final int TOGETHER = 64, MOST = 4096;

    private final NetworkCalls in;

    /** @param in the namespace */
    public NetworkSysctls(NetworkCalls in) {
        this.in = in;
    }

    /** Values of all that can be read and written, by path below /proc/sys. */
    public SortedMap<String, String> all() {
        SortedMap<String, String> values = new TreeMap<>();
        List<String> directories = new ArrayList<>(List.of(TOP));
        while (!directories.isEmpty()) {
            String directory = directories.removeLast();
            list(directory, directories, values);
        }
        return values;
    }

    private void list(String directory, List<String> directories, SortedMap<String, String> values) {
        int fd = (int) LinuxError.check(open(directory, Syscall.O_RDONLY | Syscall.O_DIRECTORY),
                "open " + ALL + directory);
        List<String> files = new ArrayList<>();
        try {
            MemorySegment data = Scratch.data();
            for (long n; (n = LinuxError.check(in.call(Syscall.GETDENTS64, fd, data.address(), Scratch.DATA_BYTES),
                    "list " + ALL + directory)) > 0;) {
                for (long at = 0; at < n; at += Short.toUnsignedInt(data.get(JAVA_SHORT_UNALIGNED,
                        at + ENTRY_LENGTH))) {
                    String name = data.getString(at + ENTRY_NAME, StandardCharsets.ISO_8859_1);
                    if (!name.equals(".") && !name.equals("..")) {
                        (data.get(JAVA_BYTE, at + ENTRY_TYPE) == DIRECTORY ? directories : files)
                                .add(directory + "/" + name);
                    }
                }
            }
        } finally {
            Files.close(fd);
        }
        for (int at = 0; at < files.size(); at += TOGETHER) {
            values(files.subList(at, Math.min(files.size(), at + TOGETHER)), values);
        }
    }

    private void values(List<String> files, SortedMap<String, String> values) {
        long[] fds = new long[files.size()];
        try (Arena arena = Arena.ofConfined()) {
            long[][] opens = files.stream().map(file -> new long[]{Syscall.OPEN,
                    arena.allocateFrom(ALL + file, StandardCharsets.ISO_8859_1).address(),
                    Syscall.O_RDWR | Syscall.O_CLOEXEC}).toArray(long[][]::new);
            fds = in.calls(opens);
            MemorySegment data = arena.allocate((long) MOST * files.size());
            long[][] reads = new long[files.size()][];
            for (int i = 0; i < reads.length; i++) {
                reads[i] = new long[]{Syscall.READ, check(fds[i], files.get(i)) ? fds[i] : -1,
                        data.address() + (long) MOST * i, MOST};
            }
            long[] lengths = in.calls(reads);
            for (int i = 0; i < reads.length; i++) {
                if (lengths[i] >= 0) {
                    values.put(files.get(i), text(data.asSlice((long) MOST * i, lengths[i])));
                }
            }
        } finally {
            Arrays.stream(fds).filter(fd -> fd > 0).forEach(fd -> Files.close((int) fd));
        }
    }

    private static String text(MemorySegment value) {
        return new String(value.toArray(JAVA_BYTE), StandardCharsets.ISO_8859_1).strip();
    }

    /** Whether it was opened; not if it is for reading or for writing only. */
    private static boolean check(long opened, String path) {
        if (opened == -LinuxError.EACCES || opened == -LinuxError.EPERM || opened == -LinuxError.ENOENT) {
            return false;
        }
        LinuxError.check(opened, "open " + ALL + path);
        return true;
    }

    /** Null: it cannot be both read and written, or has none (EIO: net.ipv6.conf.lo.stable_secret). */
    public String value(String path) {
        long fd = open(path, Syscall.O_RDWR);
        if (!check(fd, path)) {
            return null;
        }
        try {
            MemorySegment data = Scratch.data();
            long n = in.call(Syscall.READ, fd, data.address(), MOST);
            return n < 0 ? null : text(data.asSlice(0, n));
        } finally {
            Files.close((int) fd);
        }
    }

    /** Sets one. @throws LinuxError it cannot be */
    public void set(String path, String value) {
        int fd = (int) LinuxError.check(open(path, Syscall.O_WRONLY), "open " + ALL + path);
        try {
            byte[] bytes = value.getBytes(StandardCharsets.ISO_8859_1);
            MemorySegment.copy(bytes, 0, Scratch.data(), JAVA_BYTE, 0, bytes.length);
            LinuxError.check(in.call(Syscall.WRITE, fd, Scratch.data().address(), bytes.length),
                    "write '" + value + "' to " + ALL + path);
        } finally {
            Files.close(fd);
        }
    }

    private long open(String path, int flags) {
        return in.call(Syscall.OPEN, Scratch.string(ALL + path), flags | Syscall.O_CLOEXEC, 0);
    }
}
