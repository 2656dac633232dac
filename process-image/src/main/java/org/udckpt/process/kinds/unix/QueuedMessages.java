package org.udckpt.process.kinds.unix;

import static org.udckpt.linux.LinuxConstants.AF_UNIX;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.SCM_RIGHTS;
import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;
import static org.udckpt.linux.LinuxConstants.SOCK_STREAM;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;
import static org.udckpt.linux.LinuxConstants.SO_BUF_LOCK;
import static org.udckpt.linux.LinuxConstants.SO_SNDBUF;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.kinds.base.SocketNetworks;
import org.udckpt.process.kinds.socket.UnixAddress;

/** Sends again what unix sockets had not read: bytes, messages, and the descriptors and credentials with them. */
final class QueuedMessages {
    private static final int CHUNK = 32768, SCM_CREDENTIALS = 2, CONTROL_HEADER = 16, CREDENTIAL_BYTES = 12;
    private static final int LEAST_BUFFER = 1 << 17;

    /** A message of a socket's queue. */
    private record Key(long socket, int message) {}

    private final Map<Key, List<DescriptorInFlight>> descriptors = new HashMap<>();
    private final Map<Key, CredentialsInFlight> credentials = new HashMap<>();
    private final Map<Key, byte[]> names = new HashMap<>();
    private final Map<Long, Integer> late = new HashMap<>();
    private final RestoreScope scope;
    private final SocketNetworks networks;

    QueuedMessages(RestoreScope scope, SocketNetworks networks) {
        this.scope = scope;
        this.networks = networks;
        for (DescriptorInFlight one : scope.objects(DescriptorInFlight.class)) {
            descriptors.computeIfAbsent(new Key(one.object(), one.message()), _ -> new ArrayList<>()).add(one);
            late.merge(one.object(), 1, Integer::sum);
        }
        scope.objects(CredentialsInFlight.class)
                .forEach(one -> credentials.put(new Key(one.object(), one.message()), one));
        scope.objects(SenderName.class).forEach(one -> names.put(new Key(one.object(), one.message()), one.name()));
    }

    /** Whether any queue has descriptors, or datagrams of one with a name. */
    boolean anyLate() {
        return !late.isEmpty() || !names.isEmpty();
    }

    /** Whether it has datagrams of one with a name. */
    boolean named(UnixSocket socket) {
        return names.keySet().stream().anyMatch(key -> key.socket == socket.id());
    }

    /** Whether it can be filled only when all objects have been made: it has descriptors. */
    boolean late(UnixSocket socket) {
        return late.containsKey(socket.id());
    }

    /**
     * Sends what {@code socket} has not read yet from the other end; the buffer is large enough for the moment, and
     * then what it was, chosen by nobody (SO_BUF_LOCK).
     */
    void fill(Maker maker, UnixSocket socket, long other) {
        fill(maker, socket.id(), socket.type(), socket.queued(), socket.messageLengths(), other);
    }

    /** @param socket by whose id its messages' descriptors and credentials are known */
    void fill(Maker maker, long socket, int type, byte[] queued, int[] lengths, long other) {
        if (queued.length == 0 && lengths.length == 0) {
            return;
        }
        int before = size(maker, other);
        // setsockopt(2) is bounded by net.core.wmem_max, which is at least what the job's own buffer came from.
        buffer(maker, other, Math.max(queued.length, LEAST_BUFFER));
        if (type == SOCK_STREAM && lengths.length == 0) {
            stream(maker, other, queued);
        }
        int at = 0;
        for (int i = 0; i < lengths.length; i++) {
            int end = at + lengths[i];
            send(maker, new Key(socket, i), type, other, Arrays.copyOfRange(queued, at, end), null);
            at = end;
        }
        restore(maker, other, before);
    }

    private static void restore(Maker maker, long fd, int size) {
        buffer(maker, fd, size / 2); // the kernel doubles what it is given (socket(7))
        // That the size was chosen is told since Linux 5.14; before, nobody sees it.
        maker.tryCall(Syscall.SETSOCKOPT, fd, SOL_SOCKET, SO_BUF_LOCK, maker.structure().i32(0).put(), 4);
    }

    /**
     * Datagrams that wait at a socket without a pair's other half come again from sockets that are made for them: each
     * its own, since one alone may send only as much as fits its buffer. One with a name is sent by the socket that has
     * it now, or else by one that has it for the moment.
     */
    void feed(Maker maker, UnixSocket socket, SocketNames bound) {
        int at = 0;
        for (int i = 0; i < socket.messageLengths().length; i++) {
            int length = socket.messageLengths()[i];
            send(maker, socket, i, Arrays.copyOfRange(socket.queued(), at, at + length), bound);
            at += length;
        }
    }

    private void send(Maker maker, UnixSocket socket, int message, byte[] bytes, SocketNames bound) {
        byte[] name = names.get(new Key(socket.id(), message));
        UnixSocket owner = name == null ? null : owner(name, socket);
        long feeder = owner != null
                ? scope.made().in(maker, owner.id())
                : maker.call("socket", Syscall.SOCKET, AF_UNIX, SOCK_DGRAM | Syscall.O_CLOEXEC, 0);
        if (name != null && owner == null) {
            bound.bind(maker, SocketNames.nobody(SOCK_DGRAM, 0, name), feeder);
        }
        int before = size(maker, feeder);
        buffer(maker, feeder, Math.max(bytes.length, LEAST_BUFFER));
        send(maker, new Key(socket.id(), message), socket.type(), feeder, bytes, bound.reach(maker, socket));
        if (owner == null) {
            maker.call("close", Syscall.CLOSE, feeder);
        } else {
            restore(maker, feeder, before);
        }
    }

    private UnixSocket owner(byte[] name, UnixSocket to) {
        return scope.objects(UnixSocket.class).stream()
                .filter(one -> one.type() == SOCK_DGRAM && Arrays.equals(one.name(), name)
                        && (name[0] != 0 || networks.of(one.id()) == networks.of(to.id())))
                .findAny().orElse(null);
    }

    private static void stream(Maker maker, long fd, byte[] bytes) {
        for (int at = 0; at < bytes.length;) {
            byte[] part = Arrays.copyOfRange(bytes, at, Math.min(at + CHUNK, bytes.length));
            at += (int) maker.call(
                    "fill a socket", Syscall.SENDTO, fd, maker.bytes(part), part.length, MSG_DONTWAIT, 0, 0);
        }
    }

    /**
     * Of a stream what comes along is with the first bytes.
     *
     * @param to a name; null: to the peer
     */
    private void send(Maker maker, Key key, int type, long fd, byte[] bytes, byte[] to) {
        CredentialsInFlight sender = credentials.get(key);
        List<Long> sent = new ArrayList<>();
        descriptors.getOrDefault(key, List.of()).forEach(one -> sent.add(scope.made().in(maker, one.sent())));
        int most = type == SOCK_STREAM ? CHUNK : bytes.length;
        int done = 0;
        do {
            byte[] part = Arrays.copyOfRange(bytes, done, Math.min(done + most, bytes.length));
            done += (int) send(maker, fd, part, control(maker, sender, done == 0 ? sent : List.of()), sender, to);
        } while (done < bytes.length);
    }

    /** With a struct msghdr (sendmsg(2)). */
    private static long send(Maker maker, long fd, byte[] bytes, byte[] control, CredentialsInFlight sender,
            byte[] to) {
        long piece = maker.structure().i64(maker.bytes(bytes)).i64(bytes.length).put();
        long along = maker.bytes(control);
        long name = to == null ? 0 : UnixAddress.put(maker, to);
        long header = maker.structure().i64(name).i64(to == null ? 0 : UnixAddress.length(to)).i64(piece).i64(1)
                .i64(along).i64(control.length).i64(0).put();
        long result = maker.tryCall(Syscall.SENDMSG, fd, header, MSG_DONTWAIT);
        if (result < 0) {
            throw maker.failed("send a message of a unix socket again"
                    + (sender == null ? ""
                            : " with the credentials of process " + sender.pid() + ", user "
                                    + Integer.toUnsignedString(sender.uid()))
                    + ": " + LinuxError.name((int) -result));
        }
        return result;
    }

    /** Control messages: struct cmsghdr is length, level, type (cmsg(3)). */
    private byte[] control(Maker maker, CredentialsInFlight sender, List<Long> sent) {
        ByteBuffer bytes = ByteBuffer.allocate(2 * CONTROL_HEADER + CREDENTIAL_BYTES + Integer.BYTES
                + Integer.BYTES * (sent.size() + 1)).order(ByteOrder.LITTLE_ENDIAN);
        if (sender != null) {
            // who could not be made again, of which there was a warning, cannot be named
            int pid = maker.own(scope.makers().containsKey(sender.pid()) ? sender.pid() : maker.pid());
            if (pid == 0) {
                throw maker.unsupported("process " + sender.pid() + " has sent a message that waits in a unix socket, "
                        + "and has no number in the pid namespace of the socket's owner");
            }
            bytes.putLong(CONTROL_HEADER + CREDENTIAL_BYTES).putInt(SOL_SOCKET).putInt(SCM_CREDENTIALS);
            bytes.putInt(pid).putInt(sender.uid()).putInt(sender.gid()).putInt(0);
        }
        if (!sent.isEmpty()) {
            bytes.putLong(CONTROL_HEADER + (long) Integer.BYTES * sent.size()).putInt(SOL_SOCKET).putInt(SCM_RIGHTS);
            sent.forEach(one -> bytes.putInt((int) (long) one));
            if (sent.size() % 2 != 0) {
                bytes.putInt(0); // each begins at a multiple of 8
            }
        }
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    /** SO_SNDBUF. */
    private static int size(Maker maker, long fd) {
        long length = maker.structure().i32(Integer.BYTES).i32(0).put();
        maker.call("getsockopt", Syscall.GETSOCKOPT, fd, SOL_SOCKET, SO_SNDBUF, length + Integer.BYTES, length);
        return maker.readInt(length + Integer.BYTES);
    }

    private static void buffer(Maker maker, long fd, int bytes) {
        maker.call("setsockopt", Syscall.SETSOCKOPT, fd, SOL_SOCKET, SO_SNDBUF, maker.structure().i32(bytes).put(), 4);
    }
}
