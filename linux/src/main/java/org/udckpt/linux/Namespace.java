package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.NS_GET_OWNER_UID;
import static org.udckpt.linux.LinuxConstants.NS_GET_PARENT;
import static org.udckpt.linux.LinuxConstants.NS_GET_USERNS;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * A namespace that is open (namespaces(7), ioctl_ns(2)).
 *
 * @param descriptor of this process
 */
public record Namespace(int descriptor) implements AutoCloseable {
    /** One of a process. @param type as /proc/PID/ns names it */
    public static Namespace of(int pid, String type) {
        return new Namespace(Files.open("/proc/" + pid + "/ns/" + type, Syscall.O_RDONLY));
    }

    /** The user namespace that owns it; null: this process may not know. */
    public Namespace owner() {
        return asked(NS_GET_USERNS);
    }

    /** The user namespace in which this one was made; null: this process may not know. */
    public Namespace parent() {
        return asked(NS_GET_PARENT);
    }

    private Namespace asked(int request) {
        long result = Syscall.call(Syscall.IOCTL, descriptor, request);
        if (result == -LinuxError.EPERM) {
            return null;
        }
        return new Namespace((int) LinuxError.check(result, "ask for a user namespace"));
    }

    /** Who has made this user namespace. */
    public int maker() {
        LinuxError.check(Syscall.call(Syscall.IOCTL, descriptor, NS_GET_OWNER_UID, Scratch.data().address()),
                "ask for the owner of a user namespace");
        return Scratch.data().get(JAVA_INT, 0);
    }

    /** Its number, by which it is told from others. */
    public long number() {
        return Files.stat(descriptor).inode();
    }

    /** A file of the kernel's as who is in this user namespace reads it: some say something else to others. */
    public String textInside(String path) {
        try (CallingProcess process = new CallingProcess()) {
            process.enter(descriptor);
            long fd = process.call(Syscall.OPEN, new long[]{Scratch.string(path),
                    Syscall.O_RDONLY | Syscall.O_CLOEXEC, 0, 0, 0, 0});
            return all((int) LinuxError.check(fd, "open " + path), path);
        }
    }

    private static String all(int fd, String path) {
        try {
            StringBuilder text = new StringBuilder();
            MemorySegment data = Scratch.data();
            for (long count; (count = LinuxError.check(
                    Syscall.call(Syscall.READ, fd, data.address(), Scratch.DATA_BYTES), "read " + path)) > 0;) {
                text.append(new String(data.asSlice(0, count).toArray(JAVA_BYTE), StandardCharsets.US_ASCII));
            }
            return text.toString();
        } finally {
            Files.close(fd);
        }
    }

    /** What owns a namespace, if that is another user namespace than this process's; else null. */
    static Namespace ownerElsewhere(int descriptor) {
        Namespace owner = new Namespace(descriptor).owner();
        if (owner != null && owner.number() == Files.stat("/proc/self/ns/user").inode()) {
            owner.close();
            return null;
        }
        return owner;
    }

    @Override
    public void close() {
        Files.close(descriptor);
    }
}
