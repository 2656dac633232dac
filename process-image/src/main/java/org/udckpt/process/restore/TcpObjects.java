package org.udckpt.process.restore;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TcpAddress;
import org.udckpt.linux.TcpCalls;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TcpSocket.TcpState;

/**
 * Makes TCP sockets: connections between the addresses and ports that they had, with what was unread, then bound sockets and
 * listeners (which would hear the calls of the former), then the connections that wait to be accepted. They are made in
 * this process, which is in the same network namespace, and handed over. They are made before the job's clock is set, since a port
 * may have to be waited for.
 */
final class TcpObjects implements AutoCloseable {
    private final Map<Long, TcpSocket> sockets = new LinkedHashMap<>();
    /** id -> descriptor in this process */
    private final Map<Long, Integer> made = new LinkedHashMap<>();
    /** object id -> the first process that has a descriptor of it */
    private final Map<Long, Owner> owners;

    TcpObjects(JobImage image, Owners owners) {
        this.owners = owners.ofObjects();
        image.tcpSockets().stream().sorted(Comparator.comparingLong(TcpSocket::id)).forEach(socket -> this.sockets.put(socket.id(), socket));
    }

    /** All of them, in this process: it may take a minute, until what the killed job has left has passed. */
    void make() {
        each(TcpState.CONNECTED, this::connected);
        each(TcpState.PEER_CLOSED, this::orphan);
        each(TcpState.CLOSED, this::closed);
        each(TcpState.UNCONNECTED, this::single);
        each(TcpState.LISTENING, this::single);
        each(TcpState.WAITING, this::waiting);
        // Only now: nobody binds a port any more that one of these has.
        each(TcpState.UNCONNECTED, socket -> TcpSetup.share(socket, made.get(socket.id())));
        for (TcpState bound : List.of(TcpState.UNCONNECTED, TcpState.LISTENING)) {
            each(bound, socket -> TcpSetup.later(socket, made.get(socket.id())));
        }
    }

    /** To the processes that have them. */
    void give(Map<Integer, Puppet> puppets, Handles handles) {
        made.keySet().stream().collect(Collectors.groupingBy(id -> puppets.get(owner(sockets.get(id)).pid()), LinkedHashMap::new, Collectors.toList()))
                .forEach((owner, ids) -> Handover.give(owner, handles, ids, ids.stream().map(made::get).toList()));
    }

    @Override
    public void close() {
        made.values().forEach(Files::close);
        made.clear();
    }

    private interface Step {
        void make(TcpSocket socket);
    }

    private void each(TcpState state, Step step) {
        for (TcpSocket socket : sockets.values()) {
            if (socket.state() == state) {
                try {
                    step.make(socket);
                } catch (LinuxError e) {
                    throw owner(socket).failed(TcpLink.named(socket) + ": " + e.getMessage());
                }
            }
        }
    }

    private Owner owner(TcpSocket socket) {
        Owner owner = owners.get(socket.id());
        if (owner == null) {
            throw new RestoreException(RestoreException.Reason.FAILED, "TCP socket " + socket.id() + " of the image belongs to no process");
        }
        return owner;
    }

    private void connected(TcpSocket socket) {
        if (made.containsKey(socket.id())) {
            return;
        }
        TcpSocket peer = sockets.get(socket.peer());
        if (peer == null || peer.peer() != socket.id()) {
            throw owner(socket).failed("the image is inconsistent: " + TcpLink.named(socket) + " has no other end");
        }
        TcpSocket called = serves(socket) ? socket : peer;
        int[] pair = new TcpLink(owner(socket)).connect(called, called == socket ? peer : socket);
        int own = pair[called == socket ? 0 : 1];
        int other = pair[called == socket ? 1 : 0];
        made.put(socket.id(), own);
        made.put(peer.id(), other);
        TcpCalls.fill(own, other, socket.queued());
        TcpCalls.fill(other, own, peer.queued());
        for (TcpSocket end : List.of(socket, peer)) {
            TcpSetup.options(end, made.get(end.id()));
            TcpSetup.finish(end, made.get(end.id()));
        }
    }

    /** Whether it was probably accepted, and has not called: others have the same address, or a listener hears what comes there. */
    private boolean serves(TcpSocket socket) {
        TcpAddress own = TcpAddress.of(socket.local());
        return sockets.values().stream().anyMatch(one -> one.id() != socket.id() && (one.state() == TcpState.LISTENING
                ? TcpAddress.of(one.local()).hears(own) : TcpAddress.of(one.local()).equals(own)));
    }

    /** The other end's bytes arrive, and then it is closed. */
    private void orphan(TcpSocket socket) {
        TcpSocket gone = end(socket, socket.remote(), socket.local());
        int[] pair = new TcpLink(owner(socket)).connect(socket, gone);
        made.put(socket.id(), pair[0]);
        try {
            TcpCalls.fill(pair[0], pair[1], socket.queued());
        } finally {
            Files.close(pair[1]);
        }
        TcpSetup.options(socket, pair[0]);
        TcpSetup.finish(socket, pair[0]);
    }

    /** Both directions have ended. The kernel does not say any more who the other end was, and keeps no port for this one. */
    private void closed(TcpSocket socket) {
        int listener = TcpSetup.open(socket);
        int other = TcpSetup.open(socket);
        try {
            byte[] anyPort = anyPort(socket.local());
            if (TcpCalls.bind(listener, socket.local()) < 0) {
                LinuxError.check(TcpCalls.bind(listener, anyPort), "bind to its address");
            }
            TcpCalls.listen(listener, 1);
            LinuxError.check(TcpCalls.bind(other, anyPort), "bind to its address");
            LinuxError.check(TcpCalls.connect(other, TcpCalls.name(Syscall.GETSOCKNAME, listener)), "connect");
            int own = new TcpLink(owner(socket)).accept(listener, TcpAddress.of(TcpCalls.name(Syscall.GETSOCKNAME, other)));
            made.put(socket.id(), own);
            TcpCalls.fill(own, other, socket.queued());
            TcpSetup.options(socket, own);
            TcpCalls.shutdown(other, TcpCalls.SHUT_WR);
            TcpCalls.shutdown(own, TcpCalls.SHUT_WR);
            TcpCalls.flags(own, socket.flags());
        } finally {
            Files.close(listener);
            Files.close(other);
        }
    }

    private static byte[] anyPort(byte[] name) {
        byte[] other = name.clone();
        other[2] = other[3] = 0;
        return other;
    }

    private static TcpSocket end(TcpSocket like, byte[] local, byte[] remote) {
        return new TcpSocket(0, 0, like.domain(), like.state(), 0, local, remote, new byte[0], 0, 0, like.options(), 0, 0, -1, 0, 0, "", like.device());
    }

    /** New, bound or listening. Options first: some decide about the port. */
    private void single(TcpSocket socket) {
        TcpLink link = new TcpLink(owner(socket));
        int fd = TcpSetup.open(socket);
        made.put(socket.id(), fd);
        TcpSetup.options(socket, fd);
        TcpAddress local = TcpAddress.of(socket.local());
        while ((local.port() != 0 || !local.any()) && !link.bind(fd, socket)) {
            link.pause(socket);
        }
        if (socket.state() == TcpState.LISTENING) {
            TcpCalls.listen(fd, socket.backlog());
        }
        TcpSetup.finish(socket, fd);
    }

    private void waiting(TcpSocket socket) {
        int fd = new TcpLink(owner(socket)).waiting(socket);
        made.put(socket.id(), fd);
        TcpSetup.options(socket, fd);
        TcpSetup.finish(socket, fd);
    }
}
