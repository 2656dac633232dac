package org.udckpt.process.kinds.tcp;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TcpAddress;
import org.udckpt.linux.TcpCalls;
import org.udckpt.process.kinds.base.ObjectOwners;
import org.udckpt.process.kinds.socket.MadeSockets;
import org.udckpt.process.kinds.tcp.PortBinding.How;
import org.udckpt.process.model.TcpError;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TcpSocket.TcpState;

/**
 * Makes the sockets of what was a connection, or was to be one, and is none any more: closed in both directions, given
 * up, refused. The kernel keeps no port for them, and the names that they tell may be somebody else's by now.
 */
final class FormerConnections {
    private final Map<Long, TcpSocket> sockets;
    private final MadeSockets made;
    private final ObjectOwners owners;
    private final PendingErrors errors;
    private final Function<TcpSocket, TcpLink> links;
    private final Consumer<String> warn;

    /** @param sockets all of the image; those that are made are added to {@code made} */
    FormerConnections(Map<Long, TcpSocket> sockets, MadeSockets made, ObjectOwners owners, PendingErrors errors,
            Function<TcpSocket, TcpLink> links, Consumer<String> warn) {
        this.sockets = sockets;
        this.made = made;
        this.owners = owners;
        this.errors = errors;
        this.links = links;
        this.warn = warn;
    }

    /**
     * Both directions have ended. The kernel keeps no port for it, so that somebody else may have that, or the other
     * end's, by now: then this one's other end is another (SO_PEERNAME), and its own port, too, if need be.
     */
    void closed(TcpSocket socket) {
        if (errors.of(socket.id()) == TcpError.REFUSED) {
            refused(socket);
            return;
        }
        TcpSocket other = otherClosed(socket);
        int[] pair = socket.remote().length == 0 ? null : asItWas(socket);
        if (pair == null) {
            if (socket.remote().length > 0) {
                sayOtherNames(socket);
            }
            pair = between(socket, socket.local(), CalledName.anyPort(socket.local())).pair;
        }
        if (pair == null) {
            pair = between(socket, CalledName.anyPort(socket.local()), CalledName.anyPort(socket.local())).pair;
        }
        if (pair == null) {
            throw owners.of(socket.id(), TcpLink.named(socket))
                    .failed("no port is free at the address of " + TcpLink.named(socket)
                            + ", which is closed in both directions; try again in a minute");
        }
        TcpError error = errors.of(socket.id());
        if (error != null) {
            finishClosed(socket, pair[0], pair[1]);
            PendingErrors.end(error, pair[0], pair[1]);
            TcpCalls.flags(pair[0], socket.flags());
            return;
        }
        boolean both = other != null && Arrays.equals(TcpCalls.name(Syscall.GETSOCKNAME, pair[1]), other.local());
        finishClosed(socket, pair[0], pair[1]);
        if (both) {
            finishClosed(other, pair[1], pair[0]);
        }
        TcpCalls.shutdown(pair[1], TcpCalls.SHUT_WR);
        TcpCalls.shutdown(pair[0], TcpCalls.SHUT_WR);
        TcpCalls.flags(pair[0], socket.flags());
        if (both) {
            TcpCalls.flags(pair[1], other.flags());
        } else {
            Files.close(pair[1]);
        }
    }

    /** It has called, and nobody listened; where it can be, from the port that it had, to the one that it called. */
    private void refused(TcpSocket socket) {
        int own = TcpSetup.open(socket);
        made.add(socket.id(), own);
        int called = TcpSetup.open(socket);
        try {
            boolean there = socket.remote().length > 0 && PortBinding.bind(called, socket.remote(), true).bound();
            boolean here = PortBinding.bindLoosely(own, socket.local());
            if (!there && TcpCalls.bind(called, CalledName.of(socket)) < 0) {
                // its address is not of this machine any more
                LinuxError.check(TcpCalls.bind(called, CalledName.loopback(socket)),
                        "a port to call");
            }
            if (!there || !here) {
                sayOtherNames(socket);
            }
            TcpSetup.options(socket, own);
            TcpCalls.connectToNobody(own, TcpCalls.name(Syscall.GETSOCKNAME, called));
            TcpCalls.flags(own, socket.flags());
        } finally {
            Files.close(called);
        }
    }

    private void finishClosed(TcpSocket socket, int own, int other) {
        made.add(socket.id(), own);
        TcpCalls.fill(own, other, socket.queued());
        TcpSetup.options(socket, own);
    }

    /** The other end of the same former connection, closed as well; null: it is not in the image. */
    private TcpSocket otherClosed(TcpSocket socket) {
        return sockets.values()
                .stream()
                .filter(one -> one != socket && one.state() == TcpState.CLOSED && !made.has(one.id())
                        && errors.of(one.id()) == null && errors.of(socket.id()) == null
                        && one.remote().length > 0 && Arrays.equals(one.local(), socket.remote())
                        && Arrays.equals(one.remote(), socket.local()))
                .findFirst()
                .orElse(null);
    }

    /**
     * {its own, the other end's}, with both names, or null: somebody else has one of them. What is left of the former
     * connection lets one of the two call ({@link TcpLink}); where it holds a port, it is waited for.
     */
    private int[] asItWas(TcpSocket socket) {
        TcpLink link = links.apply(socket);
        while (true) {
            Attempt accepting = between(socket, socket.local(), socket.remote());
            if (accepting.pair != null) {
                return accepting.pair;
            }
            Attempt calling = between(socket, socket.remote(), socket.local());
            if (calling.pair != null) {
                return new int[]{calling.pair[1], calling.pair[0]};
            }
            if (link.expired() || !accepting.leaving && !calling.leaving) {
                return null;
            }
            link.pause(socket);
        }
    }

    /**
     * @param pair    {called, calling}, or null
     * @param leaving whether only what is left of ended connections was in the way
     */
    private record Attempt(int[] pair, boolean leaving) {
        static final Attempt FAILED = new Attempt(null, false);
    }

    /** Connects two sockets with these names. */
    private Attempt between(TcpSocket like, byte[] called, byte[] calling) {
        int listener = TcpSetup.open(like);
        int client = TcpSetup.open(like);
        boolean done = false;
        try {
            PortBinding own = PortBinding.bind(listener, called, true);
            PortBinding others = PortBinding.bind(client, calling, true);
            if (!own.bound() || !others.bound()) {
                return new Attempt(null, own.how() != How.FAILED && others.how() != How.FAILED);
            }
            others.end(client);
            TcpCalls.listen(listener, 1);
            done = TcpCalls.connect(client, TcpCalls.name(Syscall.GETSOCKNAME, listener)) == 0;
            if (!done) {
                return Attempt.FAILED;
            }
            int accepted = links.apply(like).accept(listener,
                    TcpAddress.of(TcpCalls.name(Syscall.GETSOCKNAME, client)));
            own.end(accepted);
            return new Attempt(new int[]{accepted, client}, false);
        } finally {
            Files.close(listener);
            if (!done) {
                Files.close(client);
            }
        }
    }

    /** It has called from that port, and the kernel keeps it for the socket no more. */
    void released(TcpSocket socket) {
        TcpLink link = links.apply(socket);
        int fd = link.open(socket);
        int called = link.open(socket);
        boolean done = false;
        try {
            boolean here = PortBinding.bindLoosely(fd, socket.local());
            LinuxError.check(TcpCalls.bind(called, CalledName.of(socket)), "a port to call");
            TcpCalls.connectToNobody(fd, TcpCalls.name(Syscall.GETSOCKNAME, called));
            TcpCalls.disconnect(fd);
            done = here;
        } catch (LinuxError e) {
            Files.close(fd); // a new one does the same but for the name
            fd = link.open(socket);
        } finally {
            Files.close(called);
        }
        made.add(socket.id(), fd);
        if (!done) {
            sayOtherNames(socket);
        }
        TcpSetup.options(socket, fd);
        TcpSetup.finish(socket, fd);
    }

    private void sayOtherNames(TcpSocket socket) {
        warn.accept("process " + owners.of(socket.id(), TcpLink.named(socket)).pid() + ": " + TcpLink.named(socket)
                + " had ended, and its ports are in use or its addresses are not of this machine: "
                + "getsockname(2) or SO_PEERNAME returns others now");
    }
}
