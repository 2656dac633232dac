package org.udckpt.process.kinds.tcp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.MSG_PEEK;
import static org.udckpt.linux.LinuxConstants.POLLERR;
import static org.udckpt.linux.LinuxConstants.POLLRDHUP;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TcpAddress;
import org.udckpt.linux.TcpRoom;
import org.udckpt.linux.TcpTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.socket.InternetName;
import org.udckpt.process.kinds.socket.SocketEvents;
import org.udckpt.process.kinds.socket.SocketOptions;
import org.udckpt.process.kinds.socket.SocketQueue;
import org.udckpt.process.model.TcpOptions;

/** A TCP socket of the stopped job, looked at through a duplicate of its descriptor. Close it. */
final class TcpEnd implements AutoCloseable {
    private static final int SIOCOUTQ = 0x5411;
    private static final int TCP_INFO = 11, IPPROTO_IP = 0, IP_PROTOCOL = 52, SO_PEERNAME = 28, NAME_BYTES = 128;
    /** Offsets in struct tcp_info (linux/tcp.h). */
    private static final int UNACKED = 24, SACKED = 28, BYTES_ACKED = 120, BYTES_RECEIVED = 128, INFO_BYTES = 136;

    final OpenDescriptor open;
    final long id;
    final int domain;
    /** Multipath TCP. What such a listener accepts from who speaks TCP only is TCP. */
    final boolean multipath;
    final byte[] local;
    /** Empty: none. */
    final byte[] remote;
    private final int socket;
    private final TcpRoom room;

    private TcpEnd(OpenDescriptor open, long id, int socket) {
        this.open = open;
        this.id = id;
        this.socket = socket;
        this.room = new TcpRoom(socket);
        this.domain = SocketQueue.option(socket, SocketQueue.SO_DOMAIN);
        this.multipath = SocketQueue.option(socket, SocketQueue.SO_PROTOCOL) == TcpOptions.IPPROTO_MPTCP;
        this.local = InternetName.of(Syscall.GETSOCKNAME, socket);
        this.remote = InternetName.of(Syscall.GETPEERNAME, socket);
    }

    /**
     * Of a connection of which both directions have ended, which getpeername(2) does not tell any more; empty: it never
     * was connected.
     */
    byte[] formerRemote() {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, NAME_BYTES, local.length); // not more than there is (sk_getsockopt, net/core/sock.c)
        long result = Syscall.call(Syscall.GETSOCKOPT, socket, TcpOptions.SOL_SOCKET, SO_PEERNAME, data.address(),
                data.address() + NAME_BYTES);
        return result < 0 ? new byte[0] : data.asSlice(0, data.get(JAVA_INT, NAME_BYTES)).toArray(JAVA_BYTE);
    }

    static TcpEnd of(OpenDescriptor open, long id) {
        try (ProcessHandleFd process = new ProcessHandleFd(open.process().task())) {
            int socket = process.duplicate(open.fd());
            try {
                return new TcpEnd(open, id, socket);
            } catch (RuntimeException e) {
                Files.close(socket);
                throw e;
            }
        }
    }

    int socket() {
        return socket;
    }

    TcpAddress localAddress() {
        return TcpAddress.of(local);
    }

    TcpAddress remoteAddress() {
        return TcpAddress.of(remote);
    }

    /** One of {@link TcpTable}'s; it may change while packets are on their way. */
    int state() {
        return info().get(JAVA_BYTE, 0);
    }

    /** Whether the end of the process's own stream was sent. */
    boolean ended() {
        return switch (state()) {
            case TcpTable.FIN_WAIT1, TcpTable.FIN_WAIT2, TcpTable.CLOSING, TcpTable.LAST_ACK -> true;
            default -> false;
        };
    }

    private MemorySegment info() {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 512, 256);
        LinuxError.check(Syscall.call(Syscall.GETSOCKOPT, socket, TcpOptions.SOL_TCP, TCP_INFO, data.address(),
                data.address() + 512), "TCP_INFO");
        if (data.get(JAVA_INT, 512) < INFO_BYTES) {
            throw open.refuse("this kernel's TCP_INFO does not count bytes (Linux 4.1 does), which checkpoints of "
                    + "TCP sockets need; close it first");
        }
        return data;
    }

    /** Number of connections that wait to be accepted by this listener. */
    int waiting() {
        return info().get(JAVA_INT, UNACKED);
    }

    /** This listener's backlog (listen(2)). */
    int backlog() {
        return info().get(JAVA_INT, SACKED);
    }

    /**
     * Bytes that the process has written, or more when an acknowledgement comes in just now; also the start and the end
     * of the stream may count as a byte.
     */
    long sent() {
        long unacknowledged = unacknowledged();
        return info().get(JAVA_LONG, BYTES_ACKED) + unacknowledged;
    }

    /** Bytes that arrived in order, and the end of the stream as one. */
    long received() {
        return info().get(JAVA_LONG, BYTES_RECEIVED);
    }

    /** Bytes, and the end of the stream as one, of which the other end has not said yet that they arrived. */
    int unacknowledged() {
        LinuxError.check(Syscall.call(Syscall.IOCTL, socket, SIOCOUTQ, Scratch.data().address()), "bytes queued in "
                + "a TCP socket");
        return Scratch.data().get(JAVA_INT, 0);
    }

    /** Whether nothing more can arrive: the other end has ended its stream, or this process wants no more. */
    boolean receivesNoMore() {
        return (SocketEvents.of(socket) & POLLRDHUP) != 0;
    }

    /**
     * Whether it was connected, and tells the port of that without holding it (inet_put_port,
     * net/ipv4/inet_hashtables.c). Kernels that do not tell (before Linux 6.4): false.
     */
    boolean hasReleasedPort() {
        return localAddress().port() != 0
                && SocketOptions.number(socket, IPPROTO_IP, IP_PROTOCOL).orElse(1) == 0;
    }

    /** Whether it has an error or a notification to tell. */
    boolean hasError() {
        return (SocketEvents.of(socket) & POLLERR) != 0;
    }

    /** Names what a look cannot copy. */
    void check() {
        int events = SocketEvents.of(socket);
        if ((events & SocketEvents.POLLPRI) != 0) {
            throw failed("it has a pending urgent byte (MSG_OOB)");
        }
    }

    /** What was received and not read; it stays there. */
    byte[] queued() {
        int bytes = room.unread();
        if (bytes == 0) {
            return new byte[0];
        }
        // since Linux 6.9
        int offset = SocketOptions.number(socket, TcpOptions.SOL_SOCKET, SocketQueue.SO_PEEK_OFF)
                .orElse(SocketQueue.NO_OFFSET);
        try (Arena arena = Arena.ofConfined()) {
            if (offset != SocketQueue.NO_OFFSET) {
                SocketQueue.setPeekOffset(socket, SocketQueue.NO_OFFSET);
            }
            MemorySegment buffer = arena.allocate(bytes);
            long n = LinuxError.check(Syscall.call(Syscall.RECVFROM, socket, buffer.address(), bytes,
                    MSG_PEEK | MSG_DONTWAIT, 0, 0), "look into a TCP socket's queue");
            if (n != bytes) {
                throw failed("only " + n + " of " + bytes + " unread bytes can be read");
            }
            return buffer.toArray(JAVA_BYTE);
        } finally {
            if (offset != SocketQueue.NO_OFFSET) {
                SocketQueue.setPeekOffset(socket, offset);
            }
        }
    }

    /** Makes room for what the other end could not send yet: {@code bytes}. */
    void makeRoom(long bytes) {
        room.make(bytes);
    }

    /** SO_RCVBUF, if the process has chosen it, else 0. */
    int chosenReceiveBuffer() {
        return room.chosen() ? room.sizeBefore() : 0;
    }

    /**
     * A restart binds the same port while the killed connection is still in TIME_WAIT: only possible when that one had
     * this, too (socket(7)).
     */
    void letPortBeReused() {
        Scratch.data().set(JAVA_INT, 0, 1);
        LinuxError.check(Syscall.call(Syscall.SETSOCKOPT, socket, TcpOptions.SOL_SOCKET, TcpOptions.SO_REUSEADDR,
                Scratch.data().address(), 4),
                "SO_REUSEADDR");
    }

    RuntimeException failed(String what) {
        return open.failed(this + ": " + what);
    }

    @Override
    public String toString() {
        return "TCP socket " + localAddress() + (remote.length == 0 ? "" : " -> " + remoteAddress());
    }

    @Override
    public void close() {
        try {
            room.restore();
        } finally {
            Files.close(socket);
        }
    }
}
