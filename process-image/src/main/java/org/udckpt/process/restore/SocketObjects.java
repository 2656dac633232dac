package org.udckpt.process.restore;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.KernelObject.AgentConnection;
import org.udckpt.process.model.KernelObject.SocketState;
import org.udckpt.process.model.KernelObject.UnixSocket;

/** Makes unix sockets: connected pairs with what was queued, listeners, unconnected ones (unix(7)). */
final class SocketObjects {
    private static final int AF_UNIX = 1, SOCK_STREAM = 1, SOL_SOCKET = 1, SO_SNDBUF = 7, SO_RCVBUF = 8, SO_PASSCRED = 16, SO_RCVTIMEO = 20, SO_SNDTIMEO = 21,
            SHUTDOWN = 48, ACCEPT4 = 288, F_SETFL = 4, CHUNK = 32768, MSG_DONTWAIT = 0x40;

    private final Map<Long, UnixSocket> sockets = new HashMap<>();
    private final Descriptors descriptors;
    private final Handles handles;
    private final SocketNames names;

    SocketObjects(List<UnixSocket> sockets, Descriptors descriptors, Handles handles, SocketNames names) {
        this.names = names;
        sockets.forEach(socket -> this.sockets.put(socket.id(), socket));
        this.descriptors = descriptors;
        this.handles = handles;
    }

    void make() {
        for (UnixSocket socket : sockets.values()) {
            if (handles.known(socket.id())) {
                continue;
            }
            switch (socket.state()) {
                case CONNECTED -> connected(socket);
                case PEER_CLOSED -> orphan(socket);
                case LISTENING, UNCONNECTED -> single(socket);
            }
        }
        // Only now: a datagram socket that was connected by address finds the other one's name.
        sockets.values().stream().filter(s -> s.state() == SocketState.CONNECTED && !mutual(s)).forEach(this::connectByName);
    }

    private boolean mutual(UnixSocket socket) {
        UnixSocket peer = sockets.get(socket.peer());
        return peer != null && peer.peer() == socket.id();
    }

    private void connected(UnixSocket socket) {
        UnixSocket peer = sockets.get(socket.peer());
        if (peer == null) {
            throw descriptors.maker(socket.id()).unsupported("a unix socket was connected to a process outside of the job");
        }
        if (!mutual(socket)) {
            single(socket);
            return;
        }
        Puppet maker = maker(socket);
        long[] pair = pair(maker, socket, peer);
        long own = handles.add(maker, socket.id(), pair[0]);
        long other = handles.add(maker, peer.id(), pair[1]);
        fill(maker, socket, own, other);
        fill(maker, peer, other, own);
        finish(maker, socket, own);
        finish(maker, peer, other);
    }

    private void orphan(UnixSocket socket) {
        Puppet maker = maker(socket);
        long[] pair = pair(maker, socket, null);
        long own = handles.add(maker, socket.id(), pair[0]);
        fill(maker, socket, own, pair[1]);
        maker.call("close", Syscall.CLOSE, pair[1]);
        finish(maker, socket, own);
    }

    private void single(UnixSocket socket) {
        Puppet maker = maker(socket);
        long fd = handles.add(maker, socket.id(), maker.call("socket", Syscall.SOCKET, AF_UNIX, socket.type() | Syscall.O_CLOEXEC, 0));
        if (socket.name().length > 0) {
            names.bind(maker, socket, fd);
        }
        if (socket.state() == SocketState.LISTENING) {
            maker.call("listen", Syscall.LISTEN, fd, socket.backlog());
        }
        if (socket.queued().length > 0) {
            feedByName(maker, socket, fd);
        }
        finish(maker, socket, fd);
    }

    private Puppet maker(UnixSocket socket) {
        Puppet maker = descriptors.maker(socket.id());
        if (maker == null) {
            maker = descriptors.maker(socket.peer());
        }
        if (maker == null) {
            throw new RestoreException(RestoreException.Reason.FAILED, "socket " + socket.id() + " of the image belongs to no process");
        }
        return maker;
    }

    /** Two connected sockets. An accepted one has its listener's name, which it can only get by being accepted. */
    private long[] pair(Puppet maker, UnixSocket socket, UnixSocket peer) {
        UnixSocket listener = listener(socket);
        if (listener != null) {
            return accept(maker, listener, peer);
        }
        listener = peer == null ? null : listener(peer);
        if (listener != null) {
            long[] turned = accept(maker, listener, socket);
            return new long[] {turned[1], turned[0]};
        }
        long[] pair = pair(maker, socket);
        if (socket.name().length > 0) {
            names.bind(maker, socket, pair[0]);
        }
        if (peer != null && peer.name().length > 0) {
            names.bind(maker, peer, pair[1]);
        }
        return pair;
    }

    private UnixSocket listener(UnixSocket socket) {
        return sockets.values().stream().filter(one -> one.state() == SocketState.LISTENING && one.type() == socket.type() && one.name().length > 0
                && Arrays.equals(one.name(), socket.name())).findFirst().orElse(null);
    }

    /** {accepted, connected}; {@code client}: the connected one, null when it has been closed. */
    private long[] accept(Puppet maker, UnixSocket listener, UnixSocket client) {
        if (!handles.known(listener.id())) {
            single(listener);
        }
        long connected = maker.call("socket", Syscall.SOCKET, AF_UNIX, listener.type() | Syscall.O_CLOEXEC, 0);
        if (client != null && client.name().length > 0) {
            names.bind(maker, client, connected);
        }
        names.connect(maker, "connect", connected, listener);
        long accepted = maker.call("accept", ACCEPT4, handles.in(maker, listener.id()), 0, 0, Syscall.O_CLOEXEC);
        return new long[] {accepted, connected};
    }

    private static long[] pair(Puppet maker, UnixSocket socket) {
        long pair = maker.structure().i64(0).put();
        maker.call("socketpair", Syscall.SOCKETPAIR, AF_UNIX, socket.type() | Syscall.O_CLOEXEC, 0, pair);
        return new long[] {maker.readInt(pair), maker.readInt(pair + 4)};
    }

    private void connectByName(UnixSocket socket) {
        UnixSocket peer = sockets.get(socket.peer());
        Puppet maker = maker(socket);
        if (peer.name().length == 0) {
            throw maker.unsupported("a datagram socket is connected to one that has no name");
        }
        names.connect(maker, "connect a datagram socket", handles.in(maker, socket.id()), peer);
    }

    /** Datagrams that wait at a socket without a peer of its own come again from a nameless one. */
    private void feedByName(Puppet maker, UnixSocket socket, long fd) {
        if (socket.name().length == 0 || socket.type() == SOCK_STREAM) {
            throw maker.unsupported("unread bytes in a unix socket without a peer");
        }
        long feeder = maker.call("socket", Syscall.SOCKET, AF_UNIX, socket.type() | Syscall.O_CLOEXEC, 0);
        names.connect(maker, "connect", feeder, socket);
        fill(maker, socket, fd, feeder);
        maker.call("close", Syscall.CLOSE, feeder);
    }

    /** Sends what {@code socket} has not read yet from the other end; the buffer is large enough for the moment. */
    private static void fill(Puppet maker, UnixSocket socket, long own, long other) {
        byte[] queued = socket.queued();
        if (queued.length == 0) {
            return;
        }
        // setsockopt(2) is bounded by net.core.wmem_max, which is at least what the job's own buffer came from.
        option(maker, other, SO_SNDBUF, Math.max(queued.length, 1 << 17));
        if (socket.type() == SOCK_STREAM) {
            for (int at = 0; at < queued.length; ) {
                at += send(maker, other, Arrays.copyOfRange(queued, at, Math.min(at + CHUNK, queued.length)));
            }
            return;
        }
        int at = 0;
        for (int length : socket.messageLengths()) {
            send(maker, other, Arrays.copyOfRange(queued, at, at + length));
            at += length;
        }
    }

    private static int send(Puppet maker, long fd, byte[] part) {
        return (int) maker.call("fill a socket", Syscall.SENDTO, fd, maker.bytes(part), part.length, MSG_DONTWAIT, 0, 0);
    }

    private static void finish(Puppet maker, UnixSocket socket, long fd) {
        option(maker, fd, SO_SNDBUF, socket.sendBuffer() / 2); // the kernel doubles what it is given (socket(7))
        option(maker, fd, SO_RCVBUF, socket.receiveBuffer() / 2);
        if (socket.passCredentials()) {
            option(maker, fd, SO_PASSCRED, 1);
        }
        timeout(maker, fd, SO_RCVTIMEO, socket.receiveTimeoutUs());
        timeout(maker, fd, SO_SNDTIMEO, socket.sendTimeoutUs());
        if (socket.state() == SocketState.CONNECTED && socket.shutdown() != 0) {
            // 1 receiving, 2 sending, 3 both; shutdown(2) counts from 0
            maker.call("shut a direction of a socket", SHUTDOWN, fd, socket.shutdown() - 1);
        }
        maker.call("set a socket's flags", Syscall.FCNTL, fd, F_SETFL, socket.flags());
    }

    private static void timeout(Puppet maker, long fd, int option, long microseconds) {
        if (microseconds > 0) {
            long time = maker.structure().i64(microseconds / 1_000_000).i64(microseconds % 1_000_000).put();
            maker.call("setsockopt", Syscall.SETSOCKOPT, fd, SOL_SOCKET, option, time, 16);
        }
    }

    private static void option(Puppet maker, long fd, int option, int value) {
        if (value > 0) {
            maker.call("setsockopt", Syscall.SETSOCKOPT, fd, SOL_SOCKET, option, maker.structure().i32(value).put(), 4);
        }
    }

    /** A fresh control connection to the new agent, for the library's control thread, which waits in read(2). */
    static long agent(Puppet maker, AgentConnection agent, Path path) {
        byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
        if (name.length > 107) {
            throw maker.unsupported("the path of the agent's socket is longer than 107 bytes: " + path);
        }
        long fd = maker.call("socket", Syscall.SOCKET, AF_UNIX, SOCK_STREAM | Syscall.O_CLOEXEC, 0);
        maker.call("connect to the agent at " + path, Syscall.CONNECT, fd, SocketNames.address(maker, name), SocketNames.length(name));
        if ((agent.flags() & Syscall.O_NONBLOCK) != 0) {
            maker.call("set O_NONBLOCK", Syscall.FCNTL, fd, F_SETFL, Syscall.O_NONBLOCK);
        }
        return fd;
    }
}
