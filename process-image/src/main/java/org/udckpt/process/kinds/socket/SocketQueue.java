package org.udckpt.process.kinds.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.MSG_PEEK;
import static org.udckpt.linux.LinuxConstants.MSG_TRUNC;
import static org.udckpt.linux.LinuxConstants.POLLRDHUP;
import static org.udckpt.linux.LinuxConstants.SIOCINQ;
import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;
import static org.udckpt.linux.LinuxConstants.SOCK_SEQPACKET;
import static org.udckpt.linux.LinuxConstants.SOCK_STREAM;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;
import static org.udckpt.linux.LinuxConstants.SO_PASSCRED;
import static org.udckpt.linux.LinuxConstants.SO_RCVTIMEO;
import static org.udckpt.linux.LinuxConstants.SO_SNDTIMEO;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.OpenDescriptor;

/**
 * What a unix socket has received and nobody has read yet, looked at with MSG_PEEK.
 *
 * @param lengths of the messages in {@code bytes}; empty for a stream
 */
public record SocketQueue(byte[] bytes, int[] lengths, int sendBuffer, int receiveBuffer, long receiveTimeoutUs,
        long sendTimeoutUs, boolean passCredentials) {
    /** SOL_SOCKET options (socket(7)); {@link #NO_OFFSET}: looks begin at the start. */
    public static final int NO_OFFSET = -1, SO_TYPE = 3, SO_PROTOCOL = 38, SO_DOMAIN = 39, SO_PEEK_OFF = 42;
    private static final int SO_ACCEPTCONN = 30;
    private static final int MSG_CTRUNC = 8;
    /** Bytes of a struct sockaddr_storage. */
    public static final int NAME = 128;
    /** Bytes of a struct msghdr. */
    public static final int MESSAGE_HEADER = 56; // msghdr: iov at 16, iovlen 24, flags 48

    /** An option that is an int. */
    public static int option(int socket, int name) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 8, 4);
        LinuxError.check(Syscall.call(Syscall.GETSOCKOPT, socket, SOL_SOCKET, name, data.address(), data.address() + 8),
                "socket option " + name);
        return data.get(JAVA_INT, 0);
    }

    /** What has been received; it stays there. */
    public static SocketQueue peek(OpenDescriptor open, int socket, int type) {
        int sendBuffer = SocketOptions.chosenSendBuffer(socket);
        int receiveBuffer = SocketOptions.chosenReceiveBuffer(socket);
        if (option(socket, SO_ACCEPTCONN) != 0) {
            return of(socket, new byte[0], new int[0], sendBuffer, receiveBuffer);
        }
        int before = option(socket, SO_PEEK_OFF);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int[] lengths = new int[0];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(1 << 18);
            MemorySegment header = arena.allocate(MESSAGE_HEADER + 16 + NAME, 8);
            // A look with an offset passes over an empty message that was looked at before; one without shows it where
            // it is the first.
            setPeekOffset(socket, NO_OFFSET);
            if (type != SOCK_STREAM && receive(open, socket, type, header, buffer) == 0 && !ended(socket, type, 0)) {
                lengths = new int[]{0};
            }
            setPeekOffset(socket, 0); // each further look goes on behind the last one (socket(7))
            long n;
            while ((n = receive(open, socket, type, header, buffer)) >= 0
                    && !(n == 0 && ended(socket, type, bytes.size()))) {
                bytes.write(buffer.asSlice(0, n).toArray(JAVA_BYTE), 0, (int) n);
                if (type != SOCK_STREAM) {
                    lengths = Arrays.copyOf(lengths, lengths.length + 1);
                    lengths[lengths.length - 1] = (int) n;
                }
            }
        } finally {
            setPeekOffset(socket, before);
        }
        return of(socket, bytes.toByteArray(), lengths, sendBuffer, receiveBuffer);
    }

    private static SocketQueue of(int socket, byte[] bytes, int[] lengths, int sendBuffer, int receiveBuffer) {
        return new SocketQueue(bytes, lengths, sendBuffer, receiveBuffer, microseconds(socket, SO_RCVTIMEO),
                microseconds(socket, SO_SNDTIMEO), option(socket, SO_PASSCRED) != 0);
    }

    /** An option that is a struct timeval. */
    private static long microseconds(int socket, int name) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 16, 16);
        LinuxError.check(
                Syscall.call(Syscall.GETSOCKOPT, socket, SOL_SOCKET, name, data.address(), data.address() + 16),
                "socket option " + name);
        return data.get(JAVA_LONG, 0) * 1_000_000 + data.get(JAVA_LONG, 8);
    }

    /** Where the next look begins (SO_PEEK_OFF). */
    public static void setPeekOffset(int socket, int offset) {
        Scratch.data().set(JAVA_INT, 0, offset);
        LinuxError.check(Syscall.call(Syscall.SETSOCKOPT, socket, SOL_SOCKET, SO_PEEK_OFF, Scratch.data().address(), 4),
                "SO_PEEK_OFF");
    }

    /** A struct msghdr for recvmsg(2) of one piece; that, and the sender's name, are behind it. */
    public static void prepare(MemorySegment header, MemorySegment buffer) {
        header.fill((byte) 0);
        header.set(JAVA_LONG, 0, header.address() + MESSAGE_HEADER + 16);
        header.set(JAVA_INT, 8, NAME);
        header.set(JAVA_LONG, 16, header.address() + MESSAGE_HEADER);
        header.set(JAVA_LONG, 24, 1);
        header.set(JAVA_LONG, MESSAGE_HEADER, buffer.address());
        header.set(JAVA_LONG, MESSAGE_HEADER + 8, buffer.byteSize());
    }

    /** Bytes of the next message or piece; -1 at the end of the queue. */
    private static long receive(OpenDescriptor open, int socket, int type, MemorySegment header, MemorySegment buffer) {
        prepare(header, buffer);
        long n = Syscall.call(Syscall.RECVMSG, socket, header.address(), MSG_PEEK | MSG_DONTWAIT);
        if (n == -LinuxError.EAGAIN || n == -LinuxError.EINVAL || n == -LinuxError.ENOTCONN) {
            return -1; // empty, or a stream that was never connected
        }
        LinuxError.check(n, "look into a socket's queue");
        int flags = header.get(JAVA_INT, 48);
        if ((flags & MSG_CTRUNC) != 0) {
            throw open.refuse(
                    "descriptors or credentials are in flight in this unix socket; try again when they have "
                            + "arrived");
        }
        if ((flags & MSG_TRUNC) != 0) {
            throw open.refuse(
                    "a message of more than 256 KiB is queued in this unix socket; try again when it was read");
        }
        if (type == SOCK_DGRAM && header.get(JAVA_INT, 8) > 2) {
            throw open.refuse(
                    "a datagram from a socket with a name is queued in this unix socket, and a restart would lose "
                            + "its sender; try again when it was read");
        }
        return n;
    }

    /** What 0 bytes mean: an empty message, or that the peer has closed and nothing is left. */
    private static boolean ended(int socket, int type, int seen) {
        if (type != SOCK_SEQPACKET) {
            return type == SOCK_STREAM;
        }
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, socket);
        data.set(JAVA_INT, 4, POLLRDHUP);
        LinuxError.check(Syscall.call(Syscall.POLL, data.address(), 1, 0), "poll of a socket");
        if ((data.get(JAVA_INT, 4) >>> 16) == 0) {
            return false;
        }
        LinuxError.check(Syscall.call(Syscall.IOCTL, socket, SIOCINQ, data.address()), "bytes queued in a socket");
        return data.get(JAVA_INT, 0) <= seen;
    }
}
