package org.udckpt.process.kinds.unix;

import static org.udckpt.linux.LinuxConstants.AF_UNIX;
import static org.udckpt.linux.LinuxConstants.F_SETFL;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;
import static org.udckpt.linux.LinuxConstants.SOCK_STREAM;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;
import static org.udckpt.linux.LinuxConstants.SO_BUF_LOCK;
import static org.udckpt.linux.LinuxConstants.SO_PASSCRED;
import static org.udckpt.linux.LinuxConstants.SO_RCVBUF;
import static org.udckpt.linux.LinuxConstants.SO_RCVTIMEO;
import static org.udckpt.linux.LinuxConstants.SO_SNDBUF;
import static org.udckpt.linux.LinuxConstants.SO_SNDTIMEO;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.MadeObjects;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.kinds.base.Struct;
import org.udckpt.process.model.SocketLevel;

/**
 * Makes unix sockets: connected pairs with what was queued, listeners, single ones, and datagram sockets each of which
 * has a peer of its own (unix(7)). Only two that are connected to each other are a pair.
 */
final class UnixRestore implements KindRestore<UnixSocket> {
    private static final int SHUTDOWN = 48, ACCEPT4 = 288, CHUNK = 32768;

    private final Map<Long, UnixSocket> sockets = new LinkedHashMap<>();
    /** socket -> the name of its peer, which has closed */
    private final Map<Long, byte[]> gone = new HashMap<>();
    private final Map<Long, int[]> options = new HashMap<>();
    private final Set<UnixSocket> called = new HashSet<>();
    private final RestoreScope scope;
    private final MadeObjects handles;
    private SocketNames names;
    private PeerMakers makers;

    UnixRestore(RestoreScope scope) {
        this.scope = scope;
        this.handles = scope.made();
        scope.objects(UnixSocket.class).forEach(socket -> this.sockets.put(socket.id(), socket));
        scope.objects(GonePeer.class).forEach(peer -> this.gone.put(peer.object(), peer.name()));
        scope.objects(UnixOptions.class).forEach(changed -> this.options.put(changed.object(), changed.options()));
    }

    @Override
    public void makeTogether() {
        makers = new PeerMakers(scope.image(), scope.makers());
        names = new SocketNames(scope);
        // First those that need a name for a moment only, which another one has now.
        each(socket -> socket.state() == SocketState.PEER_CLOSED, this::orphan);
        each(this::mutual, this::connected);
        each(socket -> one(socket) && peer(socket).name().length == 0, this::halves);
        each(_ -> true, this::single);
        // Only now: a socket that has a peer accepts nothing from others, not even a connect(2).
        sockets.values().stream().filter(this::one).forEach(this::call);
        sockets.values().stream().filter(this::freed).forEach(this::free);
        sockets.values().forEach(socket -> finish(maker(socket), socket, handles.in(maker(socket), socket.id())));
    }

    private void each(Predicate<UnixSocket> which, Consumer<UnixSocket> step) {
        for (UnixSocket socket : sockets.values()) {
            if (!handles.known(socket.id()) && which.test(socket)) {
                step.accept(socket);
            }
        }
    }

    private UnixSocket peer(UnixSocket socket) {
        UnixSocket peer = sockets.get(socket.peer());
        if (peer == null) {
            throw maker(socket).unsupported("a unix socket was connected to a process outside of the job");
        }
        return peer;
    }

    private boolean mutual(UnixSocket socket) {
        return socket.state() == SocketState.CONNECTED && peer(socket) != socket && peer(socket).peer() == socket.id();
    }

    /** Whether it has a peer, but is no half of a pair. */
    private boolean one(UnixSocket socket) {
        return socket.state() == SocketState.CONNECTED && !mutual(socket);
    }

    private void connected(UnixSocket socket) {
        UnixSocket peer = peer(socket);
        Maker maker = maker(socket);
        long[] pair = pair(maker, socket, peer);
        long own = handles.add(maker, socket.id(), pair[0]);
        long other = handles.add(maker, peer.id(), pair[1]);
        fill(maker, socket, own, other);
        fill(maker, peer, other, own);
    }

    private void orphan(UnixSocket socket) {
        Maker maker = maker(socket);
        byte[] name = gone.getOrDefault(socket.id(), new byte[0]);
        UnixSocket peer = new UnixSocket(SocketNames.NOBODY, 0, socket.type(), SocketState.PEER_CLOSED, socket.id(),
                new byte[0], new int[0], name, 0, 0, 0, 0, 0, 0, false);
        boolean datagrams = socket.type() == SOCK_DGRAM;
        long[] pair = datagrams ? halves(maker, socket) : pair(maker, socket, peer);
        long own = handles.add(maker, socket.id(), pair[0]);
        fill(maker, socket, own, pair[1]);
        if (datagrams && name.length > 0) {
            names.bind(maker, peer, pair[1]); // only now: what was sent came from one without a name
        }
        maker.call("close", Syscall.CLOSE, pair[1]);
    }

    /** One end of a pair of which the other end has left it. */
    private void halves(UnixSocket socket) {
        UnixSocket other = peer(socket);
        Maker maker = maker(socket);
        if (handles.known(other.id()) || socket.type() != SOCK_DGRAM) {
            throw maker.unsupported("a unix socket is connected to a socket without a name");
        }
        long[] pair = halves(maker, socket);
        long own = handles.add(maker, socket.id(), pair[0]);
        handles.add(maker, other.id(), pair[1]);
        fill(maker, socket, own, handles.in(maker, other.id()));
    }

    /** Two connected datagram sockets, of which the first has its name. */
    private long[] halves(Maker maker, UnixSocket socket) {
        long[] pair = pairAsBefore(maker, socket.id(), socket.type());
        if (socket.name().length > 0) {
            names.bind(maker, socket, pair[0]);
        }
        return pair;
    }

    private UnixSocket caller(UnixSocket socket) {
        return sockets.values().stream().filter(one -> one.peer() == socket.id() && one(one)).findFirst().orElse(null);
    }

    /** Whether it was an end of a pair, and has no peer any more. */
    private boolean freed(UnixSocket socket) {
        return socket.state() == SocketState.UNCONNECTED && socket.name().length == 0 && socket.type() == SOCK_DGRAM
                && caller(socket) != null;
    }

    /** Its queue is emptied by that (unix_dgram_disconnected, net/unix/af_unix.c). */
    private void free(UnixSocket socket) {
        Maker maker = maker(socket);
        UnixSocket caller = caller(socket);
        long fd = handles.in(maker, socket.id());
        maker.call(
                "disconnect a datagram socket", Syscall.CONNECT, fd, maker.structure().i16(0 /* AF_UNSPEC */).put(), 2);
        fill(maker, socket, fd, handles.in(maker, caller.id()));
    }

    private void single(UnixSocket socket) {
        Maker maker = maker(socket);
        long fd = handles.add(maker, socket.id(),
                maker.call("socket", Syscall.SOCKET, AF_UNIX, socket.type() | Syscall.O_CLOEXEC, 0));
        if (socket.name().length > 0) {
            names.bind(maker, socket, fd);
        }
        if (socket.state() == SocketState.LISTENING) {
            listen(maker, socket.id(), fd, socket.backlog());
        }
        if (socket.messageLengths().length > 0) {
            feedByName(maker, socket, fd);
        }
    }

    private Maker maker(UnixSocket socket) {
        Maker maker = scope.maker(socket.id());
        if (maker == null) {
            maker = scope.maker(socket.peer());
        }
        if (maker == null) {
            throw scope.inconsistent("socket " + socket.id() + " of the image belongs to no process");
        }
        return maker;
    }

    /** Two connected sockets. An accepted one has its listener's name, which it can only get by being accepted. */
    private long[] pair(Maker maker, UnixSocket socket, UnixSocket peer) {
        if (accepted(socket, peer)) {
            return accept(maker, socket, peer);
        }
        if (accepted(peer, socket)) {
            long[] turned = accept(maker, peer, socket);
            return new long[]{turned[1], turned[0]};
        }
        if (socket.type() == SOCK_DGRAM && socket.id() != SocketNames.NOBODY && socket.name().length > 0
                && peer.name().length > 0) {
            return callEachOther(maker, socket, peer);
        }
        long[] pair = pairAsBefore(maker, makers.known(socket.id()) ? socket.id() : peer.id(), socket.type());
        if (socket.name().length > 0) {
            names.bind(maker, socket, pair[0]);
        }
        if (peer.name().length > 0) {
            names.bind(maker, peer, pair[1]);
        }
        return pair;
    }

    /**
     * Datagram sockets with names have called connect(2), and so know nothing of who is at the other end (SO_PEERCRED
     * of unix(7)); two of socketpair(2) would.
     */
    private long[] callEachOther(Maker maker, UnixSocket socket, UnixSocket peer) {
        UnixSocket[] both = {socket, peer};
        long[] pair = new long[2];
        for (int i = 0; i < 2; i++) {
            pair[i] = maker.call("socket", Syscall.SOCKET, AF_UNIX, SOCK_DGRAM | Syscall.O_CLOEXEC, 0);
            names.bind(maker, both[i], pair[i]);
        }
        for (int i = 0; i < 2; i++) {
            names.connect(maker, "connect a datagram socket", pair[i], both[1 - i]);
        }
        return pair;
    }

    /**
     * Whether it came from accept(2): its name is that of a listener, or of one that has closed. The latter is so where
     * its peer has no name, since who is called has one, or where others have its name.
     */
    private boolean accepted(UnixSocket socket, UnixSocket peer) {
        if (socket.type() == SOCK_DGRAM || socket.name().length == 0) {
            return false;
        }
        return listener(socket) != null
                || socket.id() != SocketNames.NOBODY
                        && (peer.name().length == 0
                                || sockets.values()
                                        .stream()
                                        .filter(one -> one.type() == socket.type()
                                                && Arrays.equals(one.name(), socket.name()))
                                        .count()
                                        > 1);
    }

    private UnixSocket listener(UnixSocket socket) {
        return sockets.values()
                .stream()
                .filter(one -> one.state() == SocketState.LISTENING && one.type() == socket.type()
                        && one.name().length > 0
                        && Arrays.equals(one.name(), socket.name()))
                .findFirst()
                .orElse(null);
    }

    /** {accepted, connected}. */
    private long[] accept(Maker maker, UnixSocket socket, UnixSocket client) {
        UnixSocket listener = listener(socket);
        if (listener != null && !handles.known(listener.id())) {
            single(listener);
        }
        long listening = listener != null ? handles.in(maker, listener.id()) : goneListener(maker, socket, client);
        long connected = maker.call("socket", Syscall.SOCKET, AF_UNIX, socket.type() | Syscall.O_CLOEXEC, 0);
        if (client.name().length > 0) {
            names.bind(maker, client, connected);
        }
        connect(maker, socket.id(), connected, listener != null ? listener : socket);
        long accepted = maker.call("accept", ACCEPT4, listening, 0, 0, Syscall.O_CLOEXEC);
        if (listener == null) {
            maker.call("close", Syscall.CLOSE, listening);
        }
        return new long[]{accepted, connected};
    }

    /** A listener for a moment: an abstract name is free again when it is closed, as it was. */
    private long goneListener(Maker maker, UnixSocket accepted, UnixSocket client) {
        long fd = maker.call("socket", Syscall.SOCKET, AF_UNIX, accepted.type() | Syscall.O_CLOEXEC, 0);
        names.bind(maker, accepted, fd);
        listen(maker, client.id(), fd, 1);
        return fd;
    }

    /** Makes both ends in {@code maker}, by the process that made {@code socket} before. */
    private long[] pairAsBefore(Maker maker, long socket, int type) {
        Maker before = makers.of(socket, maker);
        long both = makers.as(socket, before, () -> {
            long pair = before.structure().i64(0).put();
            before.call("socketpair", Syscall.SOCKETPAIR, AF_UNIX, type | Syscall.O_CLOEXEC, 0, pair);
            return Integer.toUnsignedLong(before.readInt(pair)) | (long) before.readInt(pair + 4) << Integer.SIZE;
        });
        return new long[]{move(before, maker, both & 0xffff_ffffL), move(before, maker, both >>> Integer.SIZE)};
    }

    /** The descriptor's number in {@code to}, which alone has it then. */
    private static long move(Maker from, Maker to, long fd) {
        if (from == to) {
            return fd;
        }
        long there = to.fetch(from.pid(), fd);
        from.call("close", Syscall.CLOSE, fd);
        return there;
    }

    /** By who did before, which who connects to it is told: {@code socket} is told of him. */
    private void listen(Maker maker, long socket, long fd, int backlog) {
        Maker before = makers.of(socket, maker);
        long there = before == maker ? fd : before.fetch(maker.pid(), fd);
        makers.as(socket, before, () -> before.call("listen", Syscall.LISTEN, there, backlog));
        if (before != maker) {
            before.call("close", Syscall.CLOSE, there);
        }
    }

    /** @param accepted the socket that will be told who has connected {@code fd} of {@code maker} */
    private void connect(Maker maker, long accepted, long fd, UnixSocket to) {
        Maker before = makers.of(accepted, maker);
        long there = before == maker ? fd : before.fetch(maker.pid(), fd);
        makers.as(accepted, before, () -> {
            names.connect(before, "connect", there, to);
            return 0L;
        });
        if (before != maker) {
            before.call("close", Syscall.CLOSE, there);
        }
    }

    /**
     * After all those that call it: nobody can when it has a peer (unix_may_send, net/unix/af_unix.c). So there are no
     * circles.
     */
    private void call(UnixSocket socket) {
        UnixSocket peer = peer(socket);
        if (!called.add(socket)) {
            return;
        }
        sockets.values().stream().filter(other -> other.peer() == socket.id() && one(other)).forEach(this::call);
        if (peer.name().length > 0) {
            Maker maker = maker(socket);
            names.connect(maker, "connect a datagram socket", handles.in(maker, socket.id()), peer);
        }
    }

    /**
     * Datagrams that wait at a socket without a pair's other half come again from nameless ones: each its own, since
     * one alone may send only as much as fits its buffer.
     */
    private void feedByName(Maker maker, UnixSocket socket, long fd) {
        if (socket.name().length == 0 || socket.type() != SOCK_DGRAM) {
            if (freed(socket)) {
                return; // the other half sends them
            }
            throw maker.unsupported("unread bytes in a unix socket without a peer");
        }
        int at = 0;
        for (int length : socket.messageLengths()) {
            long feeder = maker.call("socket", Syscall.SOCKET, AF_UNIX, SOCK_DGRAM | Syscall.O_CLOEXEC, 0);
            names.connect(maker, "connect", feeder, socket);
            option(maker, feeder, SO_SNDBUF, Math.max(length, 1 << 17));
            send(maker, feeder, Arrays.copyOfRange(socket.queued(), at, at + length));
            maker.call("close", Syscall.CLOSE, feeder);
            at += length;
        }
    }

    /**
     * Sends what {@code socket} has not read yet from the other end; the buffer is large enough for the moment, and
     * then what it was, chosen by nobody (SO_BUF_LOCK).
     */
    private static void fill(Maker maker, UnixSocket socket, long own, long other) {
        byte[] queued = socket.queued();
        if (queued.length == 0 && socket.messageLengths().length == 0) {
            return;
        }
        int before = size(maker, other);
        // setsockopt(2) is bounded by net.core.wmem_max, which is at least what the job's own buffer came from.
        option(maker, other, SO_SNDBUF, Math.max(queued.length, 1 << 17));
        if (socket.type() == SOCK_STREAM) {
            for (int at = 0; at < queued.length;) {
                at += send(maker, other, Arrays.copyOfRange(queued, at, Math.min(at + CHUNK, queued.length)));
            }
        }
        int at = 0;
        for (int length : socket.messageLengths()) {
            send(maker, other, Arrays.copyOfRange(queued, at, at + length));
            at += length;
        }
        option(maker, other, SO_SNDBUF, before / 2); // the kernel doubles what it is given (socket(7))
        // That the size was chosen is told since Linux 5.14; before, nobody sees it.
        maker.tryCall(Syscall.SETSOCKOPT, other, SOL_SOCKET, SO_BUF_LOCK, maker.structure().i32(0).put(), 4);
    }

    /** SO_SNDBUF. */
    private static int size(Maker maker, long fd) {
        long length = maker.structure().i32(Integer.BYTES).i32(0).put();
        maker.call("getsockopt", Syscall.GETSOCKOPT, fd, SOL_SOCKET, SO_SNDBUF, length + Integer.BYTES, length);
        return maker.readInt(length + Integer.BYTES);
    }

    private static int send(Maker maker, long fd, byte[] part) {
        return (int) maker.call(
                "fill a socket", Syscall.SENDTO, fd, maker.bytes(part), part.length, MSG_DONTWAIT, 0, 0);
    }

    private void finish(Maker maker, UnixSocket socket, long fd) {
        option(maker, fd, SO_SNDBUF, socket.sendBuffer() / 2); // the kernel doubles what it is given (socket(7))
        option(maker, fd, SO_RCVBUF, socket.receiveBuffer() / 2);
        if (socket.passCredentials()) {
            option(maker, fd, SO_PASSCRED, 1);
        }
        timeout(maker, fd, SO_RCVTIMEO, socket.receiveTimeoutUs());
        timeout(maker, fd, SO_SNDTIMEO, socket.sendTimeoutUs());
        int[] changed = options.getOrDefault(socket.id(), new int[0]);
        for (int i = 0; i < changed.length; i += 3) {
            Struct value = maker.structure();
            int[] argument = SocketLevel.argument(changed, i);
            Arrays.stream(argument).forEach(value::i32);
            maker.call("socket option " + changed[i + 1], Syscall.SETSOCKOPT, fd, changed[i], changed[i + 1],
                    value.put(), 4 * argument.length);
        }
        // else the peer's end has done it
        if (socket.shutdown() != 0 && (socket.state() != SocketState.PEER_CLOSED || socket.type() == SOCK_DGRAM)) {
            // 1 receiving, 2 sending, 3 both; shutdown(2) counts from 0
            maker.call("shut a direction of a socket", SHUTDOWN, fd, socket.shutdown() - 1);
        }
        maker.call("set a socket's flags", Syscall.FCNTL, fd, F_SETFL, socket.flags());
    }

    private static void timeout(Maker maker, long fd, int option, long microseconds) {
        if (microseconds > 0) {
            long time = maker.structure().i64(microseconds / 1_000_000).i64(microseconds % 1_000_000).put();
            maker.call("setsockopt", Syscall.SETSOCKOPT, fd, SOL_SOCKET, option, time, 16);
        }
    }

    private static void option(Maker maker, long fd, int option, int value) {
        if (value > 0) {
            maker.call("setsockopt", Syscall.SETSOCKOPT, fd, SOL_SOCKET, option, maker.structure().i32(value).put(), 4);
        }
    }
}
