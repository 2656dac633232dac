package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.udckpt.linux.LinuxConstants.F_SETFL;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.MSG_NOSIGNAL;
import static org.udckpt.linux.LinuxConstants.POLLERR;
import static org.udckpt.linux.LinuxConstants.POLLIN;
import static org.udckpt.linux.LinuxConstants.POLLOUT;
import static org.udckpt.linux.LinuxConstants.SOCK_STREAM;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;
import static org.udckpt.linux.LinuxConstants.SO_ERROR;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Calls on TCP sockets of this process, none of which waits longer than it says. */
public final class TcpCalls {
    public static final int SHUT_RD = 0, SHUT_WR = 1;
    private static final int POLL = 7, SHUTDOWN = 48, ACCEPT4 = 288, NAME_BYTES = 128;
    private static final int ECONNABORTED = 103, ETIMEDOUT = 110, EINPROGRESS = 115;
    /** linux/tcp.h; a bound socket shares its port with any other while it is on (net/ipv4/tcp.c). */
    private static final int SOL_TCP = 6, TCP_REPAIR = 19, TCP_REPAIR_ON = 1, TCP_REPAIR_OFF_NO_WP = -1,
            SO_REUSEADDR = 2;
    private static final int HANDSHAKE_MS = 10_000, ROUND_MS = 20, ROUNDS = 500;

    private TcpCalls() {}

    /** A new socket that does not block. @param protocol IPPROTO_TCP or IPPROTO_MPTCP */
    public static int open(int domain, int protocol) {
        return (int) LinuxError.check(
                NetworkCalls.socket(domain, SOCK_STREAM | Syscall.O_CLOEXEC | Syscall.O_NONBLOCK, protocol),
                "a TCP socket");
    }

    /** 0 or {@code -errno}. */
    public static long bind(int socket, byte[] name) {
        return Syscall.call(Syscall.BIND, socket, put(name), name.length);
    }

    /**
     * As {@link #bind}, also where only sockets that are closed hold the port (TIME_WAIT) and did not set SO_REUSEADDR:
     * needs CAP_NET_ADMIN. The socket, and one that it accepts, is to be passed to {@link #endForced}.
     */
    public static long bindForced(int socket, byte[] name) {
        long result = repair(socket, TCP_REPAIR_ON);
        if (result < 0) {
            return result;
        }
        result = bind(socket, name);
        if (result < 0) { // the next try is a plain one again
            endForced(socket);
        }
        return result;
    }

    /** The socket shares its port as before: the kernel forgets SO_REUSEADDR here. */
    public static void endForced(int socket) {
        LinuxError.check(repair(socket, TCP_REPAIR_OFF_NO_WP), "TCP_REPAIR");
        option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
    }

    private static long repair(int socket, int value) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, value);
        return Syscall.call(Syscall.SETSOCKOPT, socket, SOL_TCP, TCP_REPAIR, data.address(), Integer.BYTES);
    }

    private static long put(byte[] bytes) {
        MemorySegment.copy(bytes, 0, Scratch.data(), JAVA_BYTE, 0, bytes.length);
        return Scratch.data().address();
    }

    public static void listen(int socket, int backlog) {
        LinuxError.check(Syscall.call(Syscall.LISTEN, socket, backlog), "listen");
    }

    /** 0 or {@code -errno}; with 0 the handshake is complete, though nobody may have accepted it. */
    public static long connect(int socket, byte[] name) {
        long result = Syscall.call(Syscall.CONNECT, socket, put(name), name.length);
        if (result != -EINPROGRESS) {
            return result;
        }
        if (!poll(socket, POLLOUT, HANDSHAKE_MS)) {
            return -ETIMEDOUT;
        }
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 8, 4);
        LinuxError.check(
                Syscall.call(Syscall.GETSOCKOPT, socket, SOL_SOCKET, SO_ERROR, data.address(), data.address() + 8),
                "SO_ERROR");
        return -data.get(JAVA_INT, 0);
    }

    /**
     * The connection that comes from {@code client}, or -1: not within ten seconds. Whoever else calls at this moment
     * is turned away.
     */
    public static int accept(int listener, TcpAddress client) {
        while (poll(listener, POLLIN, HANDSHAKE_MS)) {
            long result = Syscall.call(ACCEPT4, listener, 0, 0, Syscall.O_CLOEXEC | Syscall.O_NONBLOCK);
            if (result == -LinuxError.EAGAIN || result == -ECONNABORTED) {
                continue; // a stranger called and has hung up since
            }
            int socket = (int) LinuxError.check(result, "accept");
            if (TcpAddress.of(name(Syscall.GETPEERNAME, socket)).equals(client)) {
                return socket;
            }
            Files.close(socket);
        }
        return -1;
    }

    /** @param call GETSOCKNAME or GETPEERNAME */
    public static byte[] name(int call, int socket) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, NAME_BYTES);
        LinuxError.check(Syscall.call(call, socket, data.address() + 8, data.address()), "name of a TCP socket");
        return data.asSlice(8, data.get(JAVA_INT, 0)).toArray(JAVA_BYTE);
    }

    /** Waits for what is on its way within this machine. */
    public static void await(int socket, int event, String what) {
        if (!poll(socket, event, HANDSHAKE_MS)) {
            throw new LinuxError(what, ETIMEDOUT);
        }
    }

    /** Calls, and does not wait for an answer. 0 or {@code -errno}. @param socket whose calls do not wait */
    public static long begin(int socket, byte[] name) {
        long result = Syscall.call(Syscall.CONNECT, socket, put(name), name.length);
        return result == -EINPROGRESS ? 0 : result;
    }

    /** Calls a port at which nobody listens: {@code socket} has the error of that. */
    public static void connectToNobody(int socket, byte[] name) {
        long result = begin(socket, name);
        if (result < 0) { // which has taken the error
            throw new LinuxError("connect", (int) -result);
        }
        await(socket, POLLERR, "the refusal of a TCP connection");
    }

    /** Takes what a socket has to tell, and its connection, if any: it can be bound and can connect as a new one. */
    public static void disconnect(int socket) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 8, 4);
        LinuxError.check(
                Syscall.call(Syscall.GETSOCKOPT, socket, SOL_SOCKET, SO_ERROR, data.address(), data.address() + 8),
                "SO_ERROR");
        data.set(JAVA_LONG, 0, 0); // AF_UNSPEC
        data.set(JAVA_LONG, 8, 0);
        LinuxError.check(Syscall.call(Syscall.CONNECT, socket, data.address(), 16), "disconnect");
    }

    private static boolean poll(int socket, int events, int milliseconds) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, socket);
        data.set(JAVA_SHORT, 4, (short) events);
        data.set(JAVA_SHORT, 6, (short) 0);
        return LinuxError.check(Syscall.call(POLL, data.address(), 1, milliseconds), "poll of a TCP socket") > 0;
    }

    /**
     * Sends {@code bytes} from {@code other} to {@code own}, where they stay unread; what the kernel has no room for
     * there waits at the other end.
     */
    public static void fill(int own, int other, byte[] bytes) {
        TcpRoom room = new TcpRoom(own);
        int rounds = 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(Math.max(1, bytes.length));
            MemorySegment.copy(bytes, 0, buffer, JAVA_BYTE, 0, bytes.length);
            for (int at = 0; at < bytes.length;) {
                long n = Syscall.call(Syscall.SENDTO, other, buffer.address() + at, bytes.length - at,
                        MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
                if (n == -LinuxError.EAGAIN && rounds++ < ROUNDS) {
                    room.make(bytes.length - room.unread());
                    poll(other, POLLOUT, ROUND_MS);
                } else {
                    at += (int) LinuxError.check(n, "send again the " + bytes.length
                            + " queued bytes of a TCP socket; is net.ipv4.tcp_rmem or tcp_wmem smaller than at the "
                            + "checkpoint?");
                }
            }
        }
        for (int round = 0; round < ROUNDS / 10 && room.unread() < bytes.length; round++) {
            room.make(bytes.length - room.unread());
            poll(-1, 0, ROUND_MS);
        }
    }

    public static void shutdown(int socket, int direction) {
        LinuxError.check(Syscall.call(SHUTDOWN, socket, direction), "shut a direction of a TCP socket");
    }

    public static void flags(int socket, int flags) {
        LinuxError.check(Syscall.call(Syscall.FCNTL, socket, F_SETFL, flags), "flags of a socket");
    }

    /** setsockopt(2) of an option that is one or more ints. */
    public static void option(int socket, int level, int name, int... values) {
        for (int i = 0; i < values.length; i++) {
            Scratch.data().set(JAVA_INT, 4L * i, values[i]);
        }
        set(socket, level, name, 4 * values.length);
    }

    /** setsockopt(2) of an option that is a text. */
    public static void option(int socket, int level, int name, byte[] text) {
        put(text);
        set(socket, level, name, text.length);
    }

    private static void set(int socket, int level, int name, int bytes) {
        LinuxError.check(Syscall.call(Syscall.SETSOCKOPT, socket, level, name, Scratch.data().address(), bytes),
                "option " + name + " (level " + level + ") of a socket");
    }
}
