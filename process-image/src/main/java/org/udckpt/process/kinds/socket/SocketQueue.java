package org.udckpt.process.kinds.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;
import static org.udckpt.linux.LinuxConstants.SO_PASSCRED;
import static org.udckpt.linux.LinuxConstants.SO_RCVTIMEO;
import static org.udckpt.linux.LinuxConstants.SO_SNDTIMEO;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.model.SocketLevel;

/**
 * What a unix socket has received and nobody has read yet, looked at with MSG_PEEK.
 *
 * @param lengths of the messages in {@code bytes}; empty for a stream with which nothing came along
 */
public record SocketQueue(byte[] bytes, int[] lengths, List<SentAlong> along, int sendBuffer, int receiveBuffer,
        long receiveTimeoutUs,
        long sendTimeoutUs, boolean passCredentials) {
    /** SOL_SOCKET options (socket(7)); {@link #NO_OFFSET}: looks begin at the start. */
    public static final int NO_OFFSET = -1, SO_TYPE = 3, SO_PROTOCOL = SocketLevel.SO_PROTOCOL, SO_DOMAIN = 39,
            SO_PEEK_OFF = 42;
    private static final int SO_ACCEPTCONN = 30;
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

    /** What has been received; it stays there. The descriptors that came along are open here, to be closed. */
    public static SocketQueue peek(OpenDescriptor open, int socket, int type) {
        int sendBuffer = SocketOptions.chosenSendBuffer(socket);
        int receiveBuffer = SocketOptions.chosenReceiveBuffer(socket);
        boolean passCredentials = option(socket, SO_PASSCRED) != 0;
        try (QueuePeek queue = new QueuePeek(open, socket, type)) {
            if (option(socket, SO_ACCEPTCONN) == 0) {
                queue.all();
            }
            return new SocketQueue(queue.bytes(), queue.lengths(), List.copyOf(queue.along()), sendBuffer,
                    receiveBuffer, microseconds(socket, SO_RCVTIMEO), microseconds(socket, SO_SNDTIMEO),
                    passCredentials);
        }
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

    /** Those that came along, which are open in this process. */
    public void eachDescriptor(IntConsumer use) {
        along.forEach(one -> Arrays.stream(one.descriptors()).forEach(use));
    }

    /** Whether any came along. */
    public boolean hasDescriptors() {
        return along.stream().anyMatch(one -> one.descriptors().length > 0);
    }
}
