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
        try (Namespace namespace = Namespace.of(pid, type);
                Namespace owner = Namespace.ownerElsewhere(namespace.descriptor())) {
            if (owner != null) {
                process.enter(owner.descriptor());
            }
            LinuxError.check(call(Syscall.SETNS, namespace.descriptor(), flag), "enter a namespace (" + type + ")");
        } catch (RuntimeException | Error e) {
            process.close();
            throw e;
        }
    }

    /** The result, or {@code -errno}. Addresses and descriptors are those of this process. */
    public long call(long number, long... arguments) {
        long[] six = new long[6];
        System.arraycopy(arguments, 0, six, 0, arguments.length);
        return process.call(number, six);
    }

    /** A short file of the kernel's, as it is read there; null: there is none. */
    public String text(String path) {
        long fd = call(Syscall.OPEN, Scratch.string(path), Syscall.O_RDONLY | Syscall.O_CLOEXEC);
        if (fd == -LinuxError.ENOENT) {
            return null;
        }
        LinuxError.check(fd, "open " + path);
        try {
            MemorySegment data = Scratch.data();
            long count = LinuxError.check(call(Syscall.READ, fd, data.address(), Scratch.DATA_BYTES), "read " + path);
            return new String(data.asSlice(0, count).toArray(JAVA_BYTE), StandardCharsets.US_ASCII);
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
