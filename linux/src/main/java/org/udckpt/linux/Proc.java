package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Reads whole files and directories of /proc with raw system calls into a buffer of the calling thread. */
public final class Proc {
    /** Field 9 of proc_pid_stat(5), from the third on. */
    private static final int FLAGS = 6;
    /** PF_IO_WORKER and PF_USER_WORKER (linux/sched.h). */
    private static final long WORKER = 0x4010;
    private static final ThreadLocal<Proc> READERS = ThreadLocal.withInitial(Proc::new);

    private byte[] bytes = new byte[1 << 16];
    private int length;

    private Proc() {}

    /** The file's bytes. Throws {@link LinuxError} (ENOENT, ESRCH when the process is gone). */
    public static byte[] bytes(String path) {
        Proc reader = READERS.get();
        reader.fill(path, false);
        return Arrays.copyOf(reader.bytes, reader.length);
    }

    public static String text(String path) {
        return text(path, false);
    }

    /**
     * As {@link #text(String)}, of a file that the kernel makes as a whole for the first read (single_open: status,
     * stat, fdinfo, comm): a read that does not fill the buffer had all of it, and no other one asks for the end.
     */
    public static String whole(String path) {
        return text(path, true);
    }

    private static String text(String path, boolean whole) {
        Proc reader = READERS.get();
        reader.fill(path, whole);
        return RawText.decode(reader.bytes, 0, reader.length);
    }

    /** The value after {@code key} (with its colon) in a file like status or fdinfo, trimmed, or null. */
    public static String field(String text, String key) {
        int at = text.startsWith(key) ? 0 : text.indexOf("\n" + key);
        if (at < 0) {
            return null;
        }
        int from = at + (at == 0 && text.startsWith(key) ? 0 : 1) + key.length();
        int end = text.indexOf('\n', from);
        return text.substring(from, end < 0 ? text.length() : end).strip();
    }

    /** The fields of /proc/PID/stat from the third (state) on: index 0 is field 3 of proc_pid_stat(5). */
    public static String[] stat(int pid) {
        String text = whole("/proc/" + pid + "/stat");
        return text.substring(text.lastIndexOf(')') + 2).strip().split(" ");
    }

    /** The state letter of one thread (proc_pid_stat(5)). */
    public static String threadState(int pid, int tid) {
        String text = whole("/proc/" + pid + "/task/" + tid + "/stat");
        int state = text.lastIndexOf(')') + 2;
        return text.substring(state, state + 1);
    }

    /** Whether the thread is the kernel's own, which works for a process (io_uring(7)) and is no part of it. */
    public static boolean isWorker(int pid, int tid) {
        String text = whole("/proc/" + pid + "/task/" + tid + "/stat");
        return (Long.parseLong(text.substring(text.lastIndexOf(')') + 2).split(" ")[FLAGS]) & WORKER) != 0;
    }

    /** Threads of a process, ascending by creation; empty when it is gone. */
    public static int[] threads(int pid) {
        return numbers("/proc/" + pid + "/task");
    }

    /**
     * The number of a thread of the process that lives: {@code pid}, unless its main thread has ended while others run
     * (pthread_exit(3) in main). /proc has what such a process has open and mapped by that number alone; it finds
     * threads, too, though it does not list them (proc(5)).
     */
    public static int living(int pid) {
        try {
            if (ended(stat(pid)[0])) {
                for (int tid : threads(pid)) {
                    if (!ended(threadState(pid, tid))) {
                        return tid;
                    }
                }
            }
        } catch (LinuxError gone) {
            return pid; // what is asked next says so
        }
        return pid;
    }

    private static boolean ended(String state) {
        return state.equals("Z") || state.equals("X");
    }

    public static int[] descriptors(int pid) {
        return numbers("/proc/" + pid + "/fd");
    }

    /**
     * Children of all threads of a process (CONFIG_PROC_CHILDREN). Exact while the process is stopped; else a child may
     * be missing whose thread has ended meanwhile, since another thread of the process has it now.
     */
    public static int[] children(int pid) {
        int[] found = new int[0];
        for (int tid : threads(pid)) {
            String list = childrenOfThread(pid, tid);
            if (!list.isEmpty()) {
                for (String child : list.split(" ")) {
                    found = Arrays.copyOf(found, found.length + 1);
                    found[found.length - 1] = Integer.parseInt(child);
                }
            }
        }
        return found;
    }

    private static String childrenOfThread(int pid, int tid) {
        try {
            return text("/proc/" + pid + "/task/" + tid + "/children").strip();
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.ENOENT || e.errno() == LinuxError.ESRCH) { // the thread has ended
                return "";
            }
            throw e;
        }
    }

    /** The numeric names in a directory, in its order; empty when it does not exist. */
    public static int[] numbers(String directory) {
        long fd = Files.tryOpen(directory, Syscall.O_RDONLY | Syscall.O_DIRECTORY);
        if (fd == -LinuxError.ENOENT || fd == -LinuxError.ESRCH) {
            return new int[0];
        }
        LinuxError.check(fd, "open ", directory);
        try {
            return numbers(fd, directory);
        } finally {
            Files.close((int) fd);
        }
    }

    /** Walks struct linux_dirent64 (getdents64(2)): reclen at 16, name at 19. */
    private static int[] numbers(long fd, String directory) {
        MemorySegment data = Scratch.data();
        int[] out = new int[32];
        int count = 0;
        while (true) {
            long n = Syscall.call(Syscall.GETDENTS64, fd, data.address(), Scratch.DATA_BYTES);
            if (n == 0 || n == -LinuxError.ENOENT) {
                return Arrays.copyOf(out, count);
            }
            LinuxError.check(n, "list ", directory);
            for (long at = 0; at < n; at += data.get(JAVA_SHORT_UNALIGNED, at + 16) & 0xffff) {
                int value = number(data, at + 19);
                if (value >= 0) {
                    if (count == out.length) {
                        out = Arrays.copyOf(out, 2 * count);
                    }
                    out[count++] = value;
                }
            }
        }
    }

    private static int number(MemorySegment data, long at) {
        int value = 0;
        for (byte c; (c = data.get(JAVA_BYTE, at)) != 0; at++) {
            if (c < '0' || c > '9') {
                return -1;
            }
            value = 10 * value + c - '0';
        }
        return value;
    }

    private void fill(String path, boolean whole) {
        int fd = Files.open(path, Syscall.O_RDONLY);
        MemorySegment data = Scratch.data();
        length = 0;
        try {
            long n;
            while ((n =
                    LinuxError.check(Syscall.call(Syscall.READ, fd, data.address(), Scratch.DATA_BYTES), "read ", path))
                    > 0) {
                if (length + n > bytes.length) {
                    bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + (int) n));
                }
                MemorySegment.copy(data, JAVA_BYTE, 0, bytes, length, (int) n);
                length += (int) n;
                if (whole && n < Scratch.DATA_BYTES) {
                    return;
                }
            }
        } finally {
            Files.close(fd);
        }
    }
}
