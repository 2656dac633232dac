package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/** Asks the kernel about unix sockets by inode (sock_diag(7), linux/unix_diag.h). */
final class UnixDiag implements AutoCloseable {
    /** {@code peer}: inode, 0: none. {@code state}: 1 connected, 7 closed, 10 listening. {@code shutdown}: 1 receiving, 2 sending. {@code receiveQueue}: of a listener, connections to accept. */
    record Info(int type, int state, int peer, byte[] name, int receiveQueue, int shutdown) {}

    private static final int AF_NETLINK = 16, SOCK_RAW = 3, NETLINK_SOCK_DIAG = 4, SOCK_DIAG_BY_FAMILY = 20, NLMSG_ERROR = 2;
    private static final int SHOW_NAME = 1, SHOW_PEER = 4, SHOW_RQLEN = 16;
    private static final int ATTRIBUTE_NAME = 0, ATTRIBUTE_PEER = 2, ATTRIBUTE_RQLEN = 4, ATTRIBUTE_SHUTDOWN = 6;
    private static final int HEADER = 16, MESSAGE = 16;

    private final int fd = (int) LinuxError.check(Syscall.call(Syscall.SOCKET, AF_NETLINK, SOCK_RAW | Syscall.O_CLOEXEC, NETLINK_SOCK_DIAG), "socket of NETLINK_SOCK_DIAG");

    Info query(long inode) {
        MemorySegment data = Scratch.data();
        data.asSlice(0, 40).fill((byte) 0);
        data.set(JAVA_INT, 0, 40);
        data.set(JAVA_SHORT, 4, (short) SOCK_DIAG_BY_FAMILY);
        data.set(JAVA_SHORT, 6, (short) 1); // NLM_F_REQUEST
        data.set(JAVA_BYTE, HEADER, (byte) 1); // AF_UNIX
        data.set(JAVA_INT, HEADER + 4, -1);
        data.set(JAVA_INT, HEADER + 8, (int) inode);
        data.set(JAVA_INT, HEADER + 12, SHOW_NAME | SHOW_PEER | SHOW_RQLEN);
        data.set(JAVA_INT, HEADER + 16, -1); // any cookie
        data.set(JAVA_INT, HEADER + 20, -1);
        LinuxError.check(Syscall.call(Syscall.SENDTO, fd, data.address(), 40, 0, 0, 0), "question to sock_diag");
        long n = LinuxError.check(Syscall.call(Syscall.RECVFROM, fd, data.address(), Scratch.DATA_BYTES, 0, 0, 0), "answer of sock_diag");
        if (data.get(JAVA_SHORT, 4) == NLMSG_ERROR) {
            throw new LinuxError("unix socket with inode " + inode, -data.get(JAVA_INT, HEADER));
        }
        return parse(data, n);
    }

    private static Info parse(MemorySegment data, long bytes) {
        int peer = 0;
        int queue = 0;
        int shutdown = 0;
        byte[] name = new byte[0];
        for (long at = HEADER + MESSAGE; at + 4 <= bytes; ) {
            int length = data.get(JAVA_SHORT, at) & 0xffff;
            switch (data.get(JAVA_SHORT, at + 2)) {
                case ATTRIBUTE_NAME -> name = name(data.asSlice(at + 4, length - 4).toArray(JAVA_BYTE));
                case ATTRIBUTE_PEER -> peer = data.get(JAVA_INT, at + 4);
                case ATTRIBUTE_RQLEN -> queue = data.get(JAVA_INT, at + 4);
                case ATTRIBUTE_SHUTDOWN -> shutdown = data.get(JAVA_BYTE, at + 4);
                default -> { } // attributes that were not asked for
            }
            at += (length + 3) & -4;
        }
        return new Info(data.get(JAVA_BYTE, HEADER + 1), data.get(JAVA_BYTE, HEADER + 2), peer, name, queue, shutdown);
    }

    /** A path ends with a NUL byte here, an abstract name begins with one and may hold any (unix(7)). */
    private static byte[] name(byte[] bytes) {
        int end = bytes.length;
        while (end > 0 && bytes[0] != 0 && bytes[end - 1] == 0) {
            end--;
        }
        return java.util.Arrays.copyOf(bytes, end);
    }

    @Override
    public void close() {
        Files.close(fd);
    }
}
