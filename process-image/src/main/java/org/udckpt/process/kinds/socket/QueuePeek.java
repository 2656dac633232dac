package org.udckpt.process.kinds.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.MSG_CMSG_CLOEXEC;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.MSG_PEEK;
import static org.udckpt.linux.LinuxConstants.MSG_TRUNC;
import static org.udckpt.linux.LinuxConstants.POLLIN;
import static org.udckpt.linux.LinuxConstants.POLLRDHUP;
import static org.udckpt.linux.LinuxConstants.SCM_RIGHTS;
import static org.udckpt.linux.LinuxConstants.SIOCINQ;
import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;
import static org.udckpt.linux.LinuxConstants.SOCK_SEQPACKET;
import static org.udckpt.linux.LinuxConstants.SOCK_STREAM;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;
import static org.udckpt.linux.LinuxConstants.SO_PASSCRED;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.OpenDescriptor;

/**
 * Looks at all messages in the queue of one unix socket (MSG_PEEK), and at what was sent along. Each look at a message
 * with descriptors opens them in this process anew. In a stream a message is what one look shows: it ends behind bytes
 * that came with descriptors, and where other credentials begin (unix(7)).
 */
final class QueuePeek implements AutoCloseable {
    private static final int MSG_CTRUNC = 8, SCM_CREDENTIALS = 2, SCM_SECURITY = 3, SCM_PIDFD = 4, NO_GROUP = 65534;
    private static final int BUFFER = 1 << 18, NAME_AT = SocketQueue.MESSAGE_HEADER + 16;
    private static final int CONTROL_AT = NAME_AT + SocketQueue.NAME, CONTROL_HEADER = 16;
    /** Room for credentials alone, with which no descriptor is opened; room for SCM_MAX_FD descriptors, too. */
    private static final int ONLY_SENDER = 32, ALL = 2048;

    private final OpenDescriptor open;
    private final int socket;
    private final int type;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment buffer = arena.allocate(BUFFER);
    private final MemorySegment header = arena.allocate(CONTROL_AT + ALL, 8);
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final List<SentAlong> along = new ArrayList<>();
    private int[] lengths = new int[0];

    QueuePeek(OpenDescriptor open, int socket, int type) {
        this.open = open;
        this.socket = socket;
        this.type = type;
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }

    /** Empty for a stream with which nothing came along. */
    int[] lengths() {
        return type == SOCK_STREAM && along.isEmpty() ? new int[0] : lengths;
    }

    List<SentAlong> along() {
        return along;
    }

    /** Credentials are told to those who ask (SO_PASSCRED), and the process may still do that. */
    void all() {
        if ((poll(POLLIN) & POLLIN) == 0) {
            return;
        }
        int before = SocketQueue.option(socket, SocketQueue.SO_PEEK_OFF);
        boolean asks = SocketQueue.option(socket, SO_PASSCRED) != 0;
        try {
            if (!asks) {
                set(SO_PASSCRED, 1);
            }
            if (type == SOCK_STREAM) {
                stream();
            } else {
                messages();
            }
        } catch (RuntimeException failure) {
            along.forEach(one -> Arrays.stream(one.descriptors()).forEach(Files::close));
            throw failure;
        } finally {
            SocketQueue.setPeekOffset(socket, before);
            if (!asks) {
                set(SO_PASSCRED, 0);
            }
        }
    }

    private void set(int option, int value) {
        Scratch.data().set(JAVA_INT, 0, value);
        LinuxError.check(
                Syscall.call(Syscall.SETSOCKOPT, socket, SOL_SOCKET, option, Scratch.data().address(), Integer.BYTES),
                "socket option " + option);
    }

    /**
     * A look with an offset passes over an empty message that was looked at before; one without shows it where it is
     * the first.
     */
    private void messages() {
        SocketQueue.setPeekOffset(socket, SocketQueue.NO_OFFSET);
        if (look(ONLY_SENDER, BUFFER) == 0 && !ended(0)) {
            look(ALL, BUFFER);
            take(0);
        }
        SocketQueue.setPeekOffset(socket, 0); // each further look goes on behind the last one (socket(7))
        for (long n; (n = look(ALL, BUFFER)) >= 0 && !(n == 0 && ended(bytes.size()));) {
            take((int) n);
        }
    }

    /** A look shows bytes that came with descriptors together with those before them. */
    private void stream() {
        SocketQueue.setPeekOffset(socket, 0);
        for (long n; (n = look(ONLY_SENDER, BUFFER)) > 0;) {
            int at = bytes.size();
            if (truncated()) {
                int before = firstAlong(at, (int) n);
                SocketQueue.setPeekOffset(socket, at);
                n = before == 0 ? look(ALL, (int) n) : look(ONLY_SENDER, before);
            }
            take((int) n);
        }
    }

    /** How many bytes come before those with descriptors, of which at least the last of {@code n} is one. */
    private int firstAlong(int at, int n) {
        int without = 0;
        int with = n;
        while (without + 1 < with) {
            int middle = (without + with) >>> 1;
            SocketQueue.setPeekOffset(socket, at);
            look(ONLY_SENDER, middle);
            if (truncated()) {
                with = middle;
            } else {
                without = middle;
            }
        }
        return without;
    }

    /** Bytes of the next message or piece; -1 at the end of the queue. */
    private long look(int room, int most) {
        SocketQueue.prepare(header, buffer);
        header.set(JAVA_LONG, SocketQueue.MESSAGE_HEADER + 8, most);
        header.set(JAVA_LONG, 32, header.address() + CONTROL_AT);
        header.set(JAVA_LONG, 40, room);
        long n = Syscall.call(Syscall.RECVMSG, socket, header.address(), MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (n == -LinuxError.EAGAIN || n == -LinuxError.EINVAL || n == -LinuxError.ENOTCONN) {
            return -1; // empty, or a stream that was never connected
        }
        return LinuxError.check(n, "look into a socket's queue");
    }

    private boolean truncated() {
        return (header.get(JAVA_INT, 48) & MSG_CTRUNC) != 0;
    }

    /** The message of the last look. */
    private void take(int length) {
        SentAlong came = came();
        if (came.descriptors().length > 0 || came.sender() != null || came.name().length > 0) {
            along.add(came); // first, so that a refusal closes them
        }
        refuse(came);
        bytes.write(buffer.asSlice(0, length).toArray(JAVA_BYTE), 0, length);
        lengths = Arrays.copyOf(lengths, lengths.length + 1);
        lengths[lengths.length - 1] = length;
    }

    private void refuse(SentAlong came) {
        if (truncated()) {
            throw open.refuse("a message is in flight in this unix socket with " + came.descriptors().length
                    + " descriptors or more, which this process cannot have at once; raise its limit of open files"
                    + " (ulimit -n)");
        }
        if ((header.get(JAVA_INT, 48) & MSG_TRUNC) != 0) {
            throw open.refuse(
                    "a message of more than 256 KiB is queued in this unix socket; try again when it was read");
        }
    }

    private SentAlong came() {
        int[] descriptors = new int[0];
        SentAlong.Sender sender = null;
        int foreign = 0;
        long end = CONTROL_AT + header.get(JAVA_LONG, 40);
        for (long at = CONTROL_AT; at + CONTROL_HEADER <= end;) { // struct cmsghdr: length, level, type
            long length = header.get(JAVA_LONG, at);
            MemorySegment data = header.asSlice(at + CONTROL_HEADER, length - CONTROL_HEADER);
            switch (header.get(JAVA_INT, at + 12)) {
                case SCM_RIGHTS -> descriptors = data.toArray(JAVA_INT);
                case SCM_CREDENTIALS -> sender = sender(data);
                case SCM_SECURITY -> {
                } // the security module names the sender again after a restart
                case SCM_PIDFD -> {
                    if (data.get(JAVA_INT, 0) >= 0) {
                        Files.close(data.get(JAVA_INT, 0));
                    }
                    foreign = SCM_PIDFD;
                }
                default -> foreign = header.get(JAVA_INT, at + 12);
            }
            at += length + 7 & -8;
        }
        if (foreign != 0) {
            Arrays.stream(descriptors).forEach(Files::close);
            throw open.refuse(foreign == SCM_PIDFD
                    ? "messages in flight in this unix socket come with pidfds (SO_PASSPIDFD), which cannot be "
                            + "checkpointed; try again when they were read"
                    : "a message in flight in this unix socket has a control message of type " + foreign
                            + ", which cannot be checkpointed; try again when it was read");
        }
        byte[] name = type == SOCK_DGRAM ? UnixAddress.name(header.asSlice(NAME_AT, SocketQueue.NAME),
                header.get(JAVA_INT, 8)) : new byte[0];
        return new SentAlong(lengths.length, bytes.size(), descriptors, sender, name);
    }

    /** A message without credentials has those of nobody. */
    private SentAlong.Sender sender(MemorySegment data) {
        SentAlong.Sender sender =
                new SentAlong.Sender(data.get(JAVA_INT, 0), data.get(JAVA_INT, 4), data.get(JAVA_INT, 8));
        return sender.pid() == 0 && (sender.uid() == -1 || sender.uid() == NO_GROUP) ? null : sender;
    }

    /** What 0 bytes mean: an empty message, or that the peer has closed and nothing is left. */
    private boolean ended(int seen) {
        if (type != SOCK_SEQPACKET || poll(POLLRDHUP) == 0) {
            return false;
        }
        MemorySegment data = Scratch.data();
        LinuxError.check(Syscall.call(Syscall.IOCTL, socket, SIOCINQ, data.address()), "bytes queued in a socket");
        return data.get(JAVA_INT, 0) <= seen;
    }

    private int poll(int events) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, socket);
        data.set(JAVA_INT, 4, events);
        LinuxError.check(Syscall.call(Syscall.POLL, data.address(), 1, 0), "poll of a socket");
        return data.get(JAVA_INT, 4) >>> 16;
    }

    @Override
    public void close() {
        arena.close();
    }
}
