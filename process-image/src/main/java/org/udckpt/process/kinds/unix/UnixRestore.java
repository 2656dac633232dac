package org.udckpt.process.kinds.unix;

import static org.udckpt.linux.LinuxConstants.AF_UNIX;
import static org.udckpt.linux.LinuxConstants.F_SETFL;
import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;
import static org.udckpt.linux.LinuxConstants.SO_PASSCRED;
import static org.udckpt.linux.LinuxConstants.SO_RCVBUF;
import static org.udckpt.linux.LinuxConstants.SO_RCVTIMEO;
import static org.udckpt.linux.LinuxConstants.SO_SNDBUF;
import static org.udckpt.linux.LinuxConstants.SO_SNDTIMEO;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.MadeObjects;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.kinds.base.SocketNetworks;
import org.udckpt.process.kinds.base.Struct;
import org.udckpt.process.model.SocketLevel;

/**
 * Makes unix sockets: connected pairs with what was queued, listeners, single ones, and datagram sockets each of which
 * has a peer of its own (unix(7)). Only two that are connected to each other are a pair.
 */
final class UnixRestore implements KindRestore<UnixSocket> {
    private static final int SHUTDOWN = 48, ACCEPT4 = 288;

    private final Map<Long, UnixSocket> sockets = new LinkedHashMap<>();
    /** socket -> the name of its peer, which has closed */
    private final Map<Long, byte[]> gone = new HashMap<>();
    private final Map<Long, int[]> options = new HashMap<>();
    private final Set<UnixSocket> called = new HashSet<>();
    private final RestoreScope scope;
    private final MadeObjects handles;
    private final QueuedMessages queues;
    private final SocketNetworks networks;
    /** In their order, when all objects have been made. */
    private final List<Runnable> late = new ArrayList<>();
    private SocketNames names;
    private PeerMakers makers;

    UnixRestore(RestoreScope scope) {
        this.scope = scope;
        this.handles = scope.made();
        this.networks = new SocketNetworks(scope.image());
        this.queues = new QueuedMessages(scope, networks);
        scope.objects(UnixSocket.class).forEach(socket -> this.sockets.put(socket.id(), socket));
        scope.objects(GonePeer.class).forEach(peer -> this.gone.put(peer.object(), peer.name()));
        scope.objects(UnixOptions.class).forEach(changed -> this.options.put(changed.object(), changed.options()));
    }

    @Override
    public void makeTogether() {
        makers = new PeerMakers(scope.image(), scope.makers(), networks);
        names = new SocketNames(scope);
        // First those that need a name for a moment only, which another one has now.
        each(socket -> socket.state() == SocketState.PEER_CLOSED, this::orphan);
        each(this::mutual, this::connected);
        each(socket -> one(socket) && peer(socket).name().length == 0, this::halves);
        each(_ -> true, this::single);
        if (!queues.anyLate()) {
            complete(sockets.values());
        }
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
        whenMade(socket, () -> queues.fill(maker, socket, other));
        whenMade(peer, () -> queues.fill(maker, peer, own));
    }

    private void orphan(UnixSocket socket) {
        Maker maker = maker(socket);
        byte[] name = gone.getOrDefault(socket.id(), new byte[0]);
        UnixSocket peer = SocketNames.nobody(socket.type(), socket.id(), name);
        boolean datagrams = socket.type() == SOCK_DGRAM;
        long[] pair = datagrams ? halves(maker, socket) : pair(maker, socket, peer);
        handles.add(maker, socket.id(), pair[0]);
        whenMade(socket, () -> {
            boolean named = queues.named(socket);
            if (!named) {
                queues.fill(maker, socket, pair[1]);
            }
            if (datagrams && name.length > 0) {
                names.bind(maker, peer, pair[1]); // else only now: what was sent came from one without a name
            }
            if (named) {
                queues.fill(maker, socket, pair[1]);
            }
            maker.call("close", Syscall.CLOSE, pair[1]);
        });
    }

    /** One end of a pair of which the other end has left it. */
    private void halves(UnixSocket socket) {
        UnixSocket other = peer(socket);
        Maker maker = maker(socket);
        if (handles.known(other.id()) || socket.type() != SOCK_DGRAM) {
            throw maker.unsupported("a unix socket is connected to a socket without a name");
        }
        long[] pair = halves(maker, socket);
        handles.add(maker, socket.id(), pair[0]);
        handles.add(maker, other.id(), pair[1]);
        whenMade(socket, () -> queues.fill(maker, socket, handles.in(maker, other.id())));
    }

    /** Two connected datagram sockets, of which the first has its name. */
    private long[] halves(Maker maker, UnixSocket socket) {
        long[] pair = makers.pair(maker, socket.id(), socket.type());
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
        queues.fill(maker, socket, handles.in(maker, caller.id()));
    }

    private void single(UnixSocket socket) {
        Maker maker = maker(socket);
        long fd = handles.add(maker, socket.id(),
                maker.call("socket", Syscall.SOCKET, AF_UNIX, socket.type() | Syscall.O_CLOEXEC, 0));
        if (socket.name().length > 0) {
            names.bind(maker, socket, fd);
        }
        if (socket.state() == SocketState.LISTENING) {
            makers.listen(maker, socket.id(), fd, Math.max(socket.backlog(), waiting(socket)));
        }
        if (socket.messageLengths().length > 0) {
            feed(maker, socket);
        }
    }

    private Maker maker(UnixSocket socket) {
        Maker maker = scope.maker(socket.id());
        if (maker == null) {
            maker = scope.maker(socket.peer());
        }
        maker = networks.maker(socket.id(), maker, scope);
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
        long[] pair = makers.pair(maker, makers.known(socket.id()) ? socket.id() : peer.id(), socket.type());
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
            Maker own = maker(both[i]);
            long made = own.call("socket", Syscall.SOCKET, AF_UNIX, SOCK_DGRAM | Syscall.O_CLOEXEC, 0);
            names.bind(own, both[i], made);
            pair[i] = PeerMakers.move(own, maker, made);
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
                                        .filter(one -> one.type() == socket.type() && sameName(one, socket))
                                        .count()
                                        > 1);
    }

    /** Each network namespace has abstract names of its own. */
    private boolean sameName(UnixSocket one, UnixSocket other) {
        return Arrays.equals(one.name(), other.name())
                && (one.name().length == 0 || one.name()[0] != 0 || networks.of(one.id()) == networks.of(other.id()));
    }

    private UnixSocket listener(UnixSocket socket) {
        return sockets.values()
                .stream()
                .filter(one -> one.state() == SocketState.LISTENING && one.type() == socket.type()
                        && one.name().length > 0
                        && sameName(one, socket)
                        && OwnSocketFile.same(names.own(one), names.own(socket)))
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
        makers.connect(names, maker, socket.id(), connected, listener != null ? listener : socket);
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
        makers.listen(maker, client.id(), fd, 1);
        return fd;
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

    /** Messages at a socket without a peer; those of one that had a pair's other half are sent by that. */
    private void feed(Maker maker, UnixSocket socket) {
        if (socket.name().length > 0 && socket.type() == SOCK_DGRAM) {
            if (queues.named(socket)) {
                late.add(() -> queues.feed(maker, socket, names)); // by those that have the names
            } else {
                whenMade(socket, () -> queues.feed(maker, socket, names));
            }
        } else if (!freed(socket)) {
            throw maker.unsupported("unread bytes in a unix socket without a peer");
        }
    }

    /** Descriptors can be sent when there is what they name. */
    private void whenMade(UnixSocket socket, Runnable step) {
        if (queues.late(socket)) {
            late.add(step);
        } else {
            step.run();
        }
    }

    @Override
    public void connect() {
        if (queues.anyLate()) {
            late.forEach(Runnable::run);
            complete(sockets.values());
        }
    }

    /** What keeps others from sending comes last: a socket that has a peer accepts nothing else, no connect(2). */
    private void complete(Collection<UnixSocket> all) {
        all.stream().filter(this::one).forEach(this::call);
        all.stream().filter(this::freed).forEach(this::free);
        scope.objects(WaitingConnection.class).forEach(this::wait);
        all.stream().filter(socket -> socket.state() == SocketState.LISTENING).forEach(this::shorten);
        all.forEach(socket -> finish(maker(socket), socket, handles.in(maker(socket), socket.id())));
    }

    /** After all that were accepted: a connection that nobody has accepted, and of which the client may be there. */
    private void wait(WaitingConnection waiting) {
        UnixSocket listener = sockets.get(waiting.object());
        if (waiting.client() == WaitingConnection.CLOSED) {
            Maker maker = maker(listener);
            long fd = maker.call("socket", Syscall.SOCKET, AF_UNIX,
                    listener.type() | Syscall.O_CLOEXEC | Syscall.O_NONBLOCK, 0);
            makers.connect(names, maker, waiting.id(), fd, listener);
            send(maker, waiting, listener.type(), fd);
            maker.call("close", Syscall.CLOSE, fd);
            return;
        }
        UnixSocket client = sockets.get(waiting.client());
        Maker maker = maker(client);
        long fd = handles.in(maker, client.id());
        // where fewer may wait than did, it fails instead of waiting for ever
        maker.call("set O_NONBLOCK", Syscall.FCNTL, fd, F_SETFL, Syscall.O_NONBLOCK);
        makers.connect(names, maker, waiting.id(), fd, listener);
        send(maker, waiting, listener.type(), fd);
    }

    /** What the other end of {@code fd}, which nobody has, had received. */
    private void send(Maker maker, WaitingConnection waiting, int type, long fd) {
        scope.objects(WaitingMessages.class).stream().filter(one -> one.object() == waiting.id())
                .forEach(one -> queues.fill(maker, one.id(), type, one.queued(), one.messageLengths(), fd));
    }

    private int waiting(UnixSocket listener) {
        return (int) scope.objects(WaitingConnection.class).stream()
                .filter(one -> one.object() == listener.id()).count();
    }

    /** It had listened for more before. */
    private void shorten(UnixSocket listener) {
        if (waiting(listener) > listener.backlog()) {
            Maker maker = maker(listener);
            makers.listen(maker, listener.id(), handles.in(maker, listener.id()), listener.backlog());
        }
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
