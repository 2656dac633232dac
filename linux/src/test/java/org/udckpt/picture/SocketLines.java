package org.udckpt.picture;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.UnixDiag;

/**
 * Of a socket: its names, all options that can be asked for without changing them, what waits in it, and what
 * sock_diag(7) tells of unix sockets.
 */
final class SocketLines {
    private static final int SOL_SOCKET = 1, IPPROTO_IP = 0, IPPROTO_TCP = 6, IPPROTO_IPV6 = 41, SOL_NETLINK = 270;
    private static final int SO_ERROR = 4, SO_PEERCRED = 17, SO_DOMAIN = 39, SO_COOKIE = 57, AF_UNIX = 1,
            SOCK_DGRAM = 2, LISTEN = 10, AF_INET = 2, AF_INET6 = 10, AF_NETLINK = 16;
    private static final int SIOCOUTQ = 0x5411, LAST_OPTION = 83, TCP_INFO = 11, SO_PEERPIDFD = 77,
            TCP_ZEROCOPY_RECEIVE = 35, TCP_CC_INFO = 26;
    private static final int SO_NETNS_COOKIE = 71, MOST = 256;

    private SocketLines() {}

    static void add(Picture picture, int fd, String link, String about) {
        int domain = option(fd, SOL_SOCKET, SO_DOMAIN);
        String subject = about + " " + switch (domain) {
            case AF_UNIX -> left(link) ? "left unix" : "unix";
            case AF_INET, AF_INET6 -> "inet";
            case AF_NETLINK -> "netlink";
            default -> "socket";
        };
        for (int name = 1; name <= LAST_OPTION; name++) {
            switch (name) {
                case SO_ERROR, SO_COOKIE, SO_PEERPIDFD -> {
                } // asking clears it, makes one, opens one
                case SO_NETNS_COOKIE -> picture.add(subject + " SO_NETNS_COOKIE",
                        picture.name("network", NetworkCalls.cookie(fd)));
                case SO_PEERCRED -> peer(picture, fd, subject);
                default -> ask(picture, fd, SOL_SOCKET, name, subject + " SOL_SOCKET " + name);
            }
        }
        switch (domain) {
            case AF_INET, AF_INET6 -> {
                all(picture, fd, IPPROTO_IP, 1, 60, subject + " IPPROTO_IP ");
                if (domain == AF_INET6) {
                    all(picture, fd, IPPROTO_IPV6, 1, 80, subject + " IPPROTO_IPV6 ");
                }
                for (int name = 1; name <= 46; name++) {
                    if (name != TCP_INFO && name != TCP_ZEROCOPY_RECEIVE && name != TCP_CC_INFO) {
                        ask(picture, fd, IPPROTO_TCP, name, subject + " IPPROTO_TCP " + name);
                    }
                }
            }
            case AF_NETLINK -> all(picture, fd, SOL_NETLINK, 1, 12, subject + " SOL_NETLINK ");
            case AF_UNIX -> diagnosis(picture, inode(link), subject);
            default -> {
            }
        }
        picture.add(subject + " getsockname", name(fd, Syscall.GETSOCKNAME));
        picture.add(subject + " getpeername", name(fd, Syscall.GETPEERNAME));
        picture.add(subject + " SIOCINQ", DescriptorLines.unread(fd));
        MemorySegment data = Scratch.data();
        long result = Syscall.call(Syscall.IOCTL, fd, SIOCOUTQ, data.address());
        picture.add(subject + " SIOCOUTQ",
                result != 0 ? DescriptorLines.result(result) : Integer.toString(data.get(JAVA_INT, 0)));
    }

    private static long inode(String link) {
        return Long.parseLong(link.substring(link.indexOf('[') + 1, link.length() - 1));
    }

    /** Whether it is a datagram socket whose peer has closed. */
    private static boolean left(String link) {
        try (UnixDiag diag = new UnixDiag()) {
            UnixDiag.Info info = diag.query(inode(link));
            return info.type() == SOCK_DGRAM && info.peerGone();
        }
    }

    private static void all(Picture picture, int fd, int level, int first, int last, String about) {
        for (int name = first; name <= last; name++) {
            ask(picture, fd, level, name, about + name);
        }
    }

    private static int option(int fd, int level, int name) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, 4);
        LinuxError.check(Syscall.call(Syscall.GETSOCKOPT, fd, level, name, data.address() + 8, data.address()),
                "getsockopt " + name);
        return data.get(JAVA_INT, 8);
    }

    private static void ask(Picture picture, int fd, int level, int name, String about) {
        MemorySegment data = Scratch.data();
        data.asSlice(0, MOST + 16).fill((byte) 0);
        data.set(JAVA_INT, 0, MOST);
        long result = Syscall.call(Syscall.GETSOCKOPT, fd, level, name, data.address() + 8, data.address());
        if (result == 0) {
            int length = Math.min(MOST, data.get(JAVA_INT, 0));
            picture.add(about, length == 4 ? Integer.toString(data.get(JAVA_INT, 8))
                    : HexFormat.of().formatHex(data.asSlice(8, length).toArray(JAVA_BYTE)));
        }
    }

    private static void peer(Picture picture, int fd, String about) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, 12);
        if (Syscall.call(Syscall.GETSOCKOPT, fd, SOL_SOCKET, SO_PEERCRED, data.address() + 8, data.address()) == 0) {
            int pid = data.get(JAVA_INT, 8);
            int user = data.get(JAVA_INT, 12), group = data.get(JAVA_INT, 16);
            picture.add(about + " SO_PEERCRED", picture.pids().name(pid) + " " + user + ":" + group);
        }
    }

    private static String name(int fd, int call) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, 128);
        long result = Syscall.call(call, fd, data.address() + 8, data.address());
        return result != 0 ? DescriptorLines.result(result) : data.get(JAVA_SHORT, 8) + " "
                + HexFormat.of().formatHex(data.asSlice(10, Math.max(0, data.get(JAVA_INT, 0) - 2)).toArray(JAVA_BYTE));
    }

    private static void diagnosis(Picture picture, long inode, String about) {
        try (UnixDiag diag = new UnixDiag()) {
            UnixDiag.Info info = diag.query(inode);
            picture.add(about + " diag",
                    "type %d, state %d, peer %s, peer gone %s, name %s, queue %d, backlog %d, shutdown %d".formatted(
                            info.type(), info.state(),
                            info.peer() == 0 ? "none"
                                    : picture.name("socket", Long.toString(Integer.toUnsignedLong(info.peer()))),
                            info.peerGone(),
                            info.name() == null ? "none" : HexFormat.of().formatHex(info.name()), info.receiveQueue(),
                            info.state() == LISTEN ? info.backlog() : 0, info.shutdown()));
        }
    }
}
