package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.udckpt.linux.LinuxConstants.AF_NETLINK;
import static org.udckpt.linux.LinuxConstants.SOCK_RAW;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Asks the kernel about the unix sockets of the network namespace of {@link NetworkCalls#in} (sock_diag(7),
 * linux/unix_diag.h).
 */
public final class UnixDiag implements AutoCloseable {
    /**
     * One socket.
     *
     * @param inode of the socket itself, as in {@code socket:[INODE]}
     * @param state 1 connected, 7 closed, 10 listening
     * @param peer inode, 0: none
     * @param peerGone it has had a peer, which is closed. (A datagram socket is {@code connected}, too, when others
     *     have called it.)
     * @param name as in sockaddr_un.sun_path without the NUL byte at the end of a path; empty: it has none
     * @param fileInode of the file that bind(2) made, its lower 32 bits; 0: there is none
     * @param fileDevice of that file, as the kernel has it: 20 bits for the minor number
     * @param receiveQueue of a listener, connections to accept
     * @param backlog of a listener, as listen(2) has it; else what it has sent and its peer has not read
     * @param shutdown 1 receiving, 2 sending
     */
    public record Info(int type, int state, int inode, int peer, boolean peerGone, byte[] name, int fileInode,
            int fileDevice, int receiveQueue, int backlog, int shutdown) {
        /** Whether its name is a path in the file system. */
        public boolean hasFile() {
            return name.length > 0 && name[0] != 0;
        }

        /** Whether that file is the one that it is bound to. */
        public boolean isAt(Files.Stat stat) {
            long major = stat.device() >> 8 & 0xfff | stat.device() >> 32 & ~0xfffL;
            long minor = stat.device() & 0xff | stat.device() >> 12 & 0xfff00;
            return hasInodeOf(stat) && (int) (major << 20 | minor) == fileDevice;
        }

        /**
         * The same where stat(2) shows another device than the kernel has (Btrfs, overlayfs): of a file that is
         * expected to be it.
         */
        public boolean hasInodeOf(Files.Stat stat) {
            return fileInode != 0 && (int) stat.inode() == fileInode && stat.type() == Files.Stat.SOCKET;
        }
    }

    private static final int NETLINK_SOCK_DIAG = 4, SOCK_DIAG_BY_FAMILY = 20, NLMSG_ERROR = 2, NLMSG_DONE = 3;
    private static final int NLM_F_REQUEST = 1, NLM_F_DUMP = 0x300;
    private static final int SHOW_NAME = 1, SHOW_VFS = 2, SHOW_PEER = 4, SHOW_ICONS = 8, SHOW_RQLEN = 16;
    private static final int SHOW = SHOW_NAME | SHOW_VFS | SHOW_PEER | SHOW_RQLEN;
    private static final int ATTRIBUTE_NAME = 0, ATTRIBUTE_VFS = 1, ATTRIBUTE_PEER = 2, ATTRIBUTE_ICONS = 3,
            ATTRIBUTE_RQLEN = 4,
            ATTRIBUTE_SHUTDOWN = 6;
    private static final int HEADER = 16, MESSAGE = 16;

    private final int fd = (int) LinuxError.check(
            NetworkCalls.socket(AF_NETLINK, SOCK_RAW | Syscall.O_CLOEXEC, NETLINK_SOCK_DIAG),
            "socket of NETLINK_SOCK_DIAG");

    /** The socket with this inode. @throws LinuxError ENOENT: there is none */
    public Info query(long inode) {
        ask(NLM_F_REQUEST, (int) inode, SHOW);
        MemorySegment data = Scratch.data();
        long n = answer(data);
        if (data.get(JAVA_SHORT, 4) == NLMSG_ERROR) {
            throw new LinuxError("unix socket with inode " + inode, -data.get(JAVA_INT, HEADER));
        }
        return parse(data.asSlice(0, n));
    }

    /**
     * Inodes of the sockets whose connections a listener has not accepted, in their order; 0: one that is closed.
     * Empty: there are none, or too many for one answer (some hundreds).
     */
    public int[] waiting(long inode) {
        ask(NLM_F_REQUEST, (int) inode, SHOW_ICONS);
        MemorySegment data = Scratch.data();
        long n = answer(data);
        for (long at = HEADER + MESSAGE; data.get(JAVA_SHORT, 4) != NLMSG_ERROR && at + 4 <= n;) {
            int length = data.get(JAVA_SHORT, at) & 0xffff;
            if (data.get(JAVA_SHORT, at + 2) == ATTRIBUTE_ICONS) {
                return data.asSlice(at + 4, length - 4).toArray(JAVA_INT);
            }
            at += (length + 3) & -4;
        }
        return new int[0];
    }

    /** All of them. */
    public List<Info> all() {
        ask(NLM_F_REQUEST | NLM_F_DUMP, 0, SHOW);
        List<Info> found = new ArrayList<>();
        MemorySegment data = Scratch.data();
        while (true) {
            long n = answer(data);
            for (long at = 0; at + HEADER <= n;) {
                int length = data.get(JAVA_INT, at);
                switch (data.get(JAVA_SHORT, at + 4)) {
                    case NLMSG_DONE -> {
                        return found;
                    }
                    case NLMSG_ERROR -> throw new LinuxError("list of unix sockets", -data.get(JAVA_INT, at + HEADER));
                    default -> found.add(parse(data.asSlice(at, length)));
                }
                at += length + 3 & -4;
            }
        }
    }

    private void ask(int flags, int inode, int show) {
        MemorySegment data = Scratch.data();
        data.asSlice(0, 40).fill((byte) 0);
        data.set(JAVA_INT, 0, 40);
        data.set(JAVA_SHORT, 4, (short) SOCK_DIAG_BY_FAMILY);
        data.set(JAVA_SHORT, 6, (short) flags);
        data.set(JAVA_BYTE, HEADER, (byte) 1); // AF_UNIX
        data.set(JAVA_INT, HEADER + 4, -1);
        data.set(JAVA_INT, HEADER + 8, inode);
        data.set(JAVA_INT, HEADER + 12, show);
        data.set(JAVA_INT, HEADER + 16, -1); // any cookie
        data.set(JAVA_INT, HEADER + 20, -1);
        LinuxError.check(Syscall.call(Syscall.SENDTO, fd, data.address(), 40, 0, 0, 0), "question to sock_diag");
    }

    private long answer(MemorySegment data) {
        return LinuxError.check(Syscall.call(Syscall.RECVFROM, fd, data.address(), Scratch.DATA_BYTES, 0, 0, 0),
                "answer of sock_diag");
    }

    private static Info parse(MemorySegment message) {
        int peer = 0;
        boolean peerGone = false;
        int queue = 0;
        int backlog = 0;
        int shutdown = 0;
        int fileInode = 0;
        int fileDevice = 0;
        byte[] name = new byte[0];
        for (long at = HEADER + MESSAGE; at + 4 <= message.byteSize();) {
            int length = message.get(JAVA_SHORT, at) & 0xffff;
            switch (message.get(JAVA_SHORT, at + 2)) {
                case ATTRIBUTE_NAME -> name = name(message.asSlice(at + 4, length - 4).toArray(JAVA_BYTE));
                case ATTRIBUTE_VFS -> {
                    fileInode = message.get(JAVA_INT, at + 4);
                    fileDevice = message.get(JAVA_INT, at + 8);
                }
                case ATTRIBUTE_PEER -> {
                    peer = message.get(JAVA_INT, at + 4);
                    peerGone = peer == 0;
                }
                case ATTRIBUTE_RQLEN -> {
                    queue = message.get(JAVA_INT, at + 4);
                    backlog = message.get(JAVA_INT, at + 8);
                }
                case ATTRIBUTE_SHUTDOWN -> shutdown = message.get(JAVA_BYTE, at + 4);
                default -> {
                } // attributes that were not asked for
            }
            at += (length + 3) & -4;
        }
        return new Info(message.get(JAVA_BYTE, HEADER + 1), message.get(JAVA_BYTE, HEADER + 2),
                message.get(JAVA_INT, HEADER + 4), peer, peerGone, name, fileInode, fileDevice, queue,
                backlog, shutdown);
    }

    /** A path ends with a NUL byte here, an abstract name begins with one and may hold any (unix(7)). */
    private static byte[] name(byte[] bytes) {
        int end = bytes.length;
        while (end > 0 && bytes[0] != 0 && bytes[end - 1] == 0) {
            end--;
        }
        return Arrays.copyOf(bytes, end);
    }

    @Override
    public void close() {
        Files.close(fd);
    }
}
