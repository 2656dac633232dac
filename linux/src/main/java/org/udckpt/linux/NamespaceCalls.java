package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * Makes system calls in one namespace of another process, and in the user namespace that owns it, where this process
 * may not be: in a process that shares memory and descriptors with this one. One call at a time.
 */
public final class NamespaceCalls implements AutoCloseable {
    private final CallingProcess process = new CallingProcess();

    /**
     * Enters a namespace.
     *
     * @param type as /proc/PID/ns names it
     * @param flag of setns(2)
     * @throws LinuxError this process may not enter it
     */
    public NamespaceCalls(int pid, String type, long flag) {
        this(pid, type, flag, false);
    }

    private NamespaceCalls(int pid, String type, long flag, boolean another) {
        try (Namespace namespace = Namespace.of(pid, type);
                Namespace owner = Namespace.ownerElsewhere(namespace.descriptor())) {
            if (owner != null) {
                process.enter(owner.descriptor());
            }
            LinuxError.check(another ? call(Syscall.UNSHARE, flag) : call(Syscall.SETNS, namespace.descriptor(), flag),
                    "enter a namespace (" + type + ")");
        } catch (RuntimeException | Error e) {
            process.close();
            throw e;
        }
    }

    /**
     * In a new namespace, owned by the same user namespace as that of a process. @throws LinuxError it cannot be made
     */
    static NamespaceCalls inNewOne(int pid, String type, long flag) {
        return new NamespaceCalls(pid, type, flag, true);
    }

    /** The process that makes the calls, as this one numbers it. */
    int pid() {
        return process.pid();
    }

    /** The result, or {@code -errno}. Addresses and descriptors are those of this process. */
    public long call(long number, long... arguments) {
        long[] six = new long[6];
        System.arraycopy(arguments, 0, six, 0, arguments.length);
        return process.call(number, six);
    }

    /** The same of several in their order: each a number and its arguments. */
    long[] calls(long[][] several) {
        return process.calls(several);
    }

    /** A file of the kernel's, as it is read there; null: there is none. @throws LinuxError it cannot be read */
    public String text(String path) {
        long fd = call(Syscall.OPEN, Scratch.string(path), Syscall.O_RDONLY | Syscall.O_CLOEXEC);
        if (fd == -LinuxError.ENOENT) {
            return null;
        }
        LinuxError.check(fd, "open " + path);
        try {
            StringBuilder text = new StringBuilder();
            MemorySegment data = Scratch.data();
            for (long n; (n = LinuxError.check(call(Syscall.READ, fd, data.address(), Scratch.DATA_BYTES),
                    "read " + path)) > 0;) {
                text.append(new String(data.asSlice(0, n).toArray(JAVA_BYTE), StandardCharsets.ISO_8859_1));
            }
            return text.toString();
        } finally {
            Files.close((int) fd);
        }
    }

    /** Writes to a file of the kernel's as who is there does: the result, or {@code -errno}. */
    public long write(String path, String text) {
        long fd = call(Syscall.OPEN, Scratch.string(path), Syscall.O_WRONLY | Syscall.O_CLOEXEC);
        if (fd < 0) {
            return fd;
        }
        try {
            return call(Syscall.WRITE, fd, Scratch.string(text), text.length());
        } finally {
            Files.close((int) fd);
        }
    }

    @Override
    public void close() {
        process.close();
    }
}
