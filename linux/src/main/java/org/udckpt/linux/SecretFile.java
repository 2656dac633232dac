package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/**
 * A file with a secret: opened once, and what is asked of it is asked of that descriptor, so that what was looked at is
 * what is read.
 */
public final class SecretFile {
    private static final int OTHERS = 077;

    private SecretFile() {}

    /**
     * Its bytes, at most so many. Symbolic links are followed: it is the file's own owner and mode that count.
     *
     * @param what calls it, for messages
     * @throws UntrustedPath when it is no regular file, somebody else's, or open to others: who made it may know it, or
     *     may have chosen it
     * @throws LinuxError when it cannot be read
     */
    public static byte[] read(String what, String path, int most) {
        int fd = Files.open(path, Syscall.O_RDONLY | Syscall.O_NONBLOCK); // a pipe is not waited for
        try {
            check(what + " " + path, Files.stat(fd));
            MemorySegment data = Scratch.data();
            int length = 0;
            for (long n;
                    length < most && (n = LinuxError.check(
                            Syscall.call(Syscall.READ, fd, data.address() + length, most - length), "read " + path))
                            > 0;) {
                length += (int) n;
            }
            return data.asSlice(0, length).toArray(JAVA_BYTE);
        } finally {
            Files.close(fd);
        }
    }

    private static void check(String file, Files.Stat stat) {
        if (stat.type() != Files.Stat.REGULAR) {
            throw new UntrustedPath(file + " is not a regular file: give the file itself");
        }
        if (stat.uid() != User.id()) {
            throw new UntrustedPath(file + " belongs to user " + Integer.toUnsignedString(stat.uid())
                    + ", but you are user " + Integer.toUnsignedString(User.id())
                    + ": images sealed with it belong to that user and would run with your rights; run as that user "
                    + "(su, sudo -u)" + (User.id() == 0 ? ", or, if they should run as root, use a copy of the key "
                            + "that root owns" : ""));
        }
        if ((stat.mode() & OTHERS) != 0) {
            throw new UntrustedPath(file + " is open to others (mode " + Integer.toOctalString(stat.mode() & 07777)
                    + "): chmod 600 it, or make a new one");
        }
    }
}
