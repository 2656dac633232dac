package org.udckpt.process.kinds.tcp;

import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TcpAddress;
import org.udckpt.linux.TcpCalls;
import org.udckpt.linux.TcpTable;
import org.udckpt.process.kinds.base.MadeHere;
import org.udckpt.process.kinds.base.NamedProcess;
import org.udckpt.process.kinds.base.ObjectOwners;
import org.udckpt.process.kinds.socket.MadeSockets;
import org.udckpt.process.kinds.tcp.PortBinding.How;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.TcpError;
import org.udckpt.process.model.TcpOptions;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TcpSocket.TcpState;

/**
 * Makes TCP sockets: first connections between the addresses and ports that they had, with what was unread; then bound
 * sockets and listeners (made later, since they would accept those connections); then the connections that wait to be
 * accepted. They are made in this process, in the network namespace of {@link NetworkCalls#in}, and handed over; those
 * of the namespace in which the job was started before the job's clock is set, since a port may have to be waited for.
 */
final class TcpRestore implements MadeHere {
    private final Map<Long, TcpSocket> sockets = new LinkedHashMap<>();
    private final MadeSockets made = new MadeSockets();
    private final ObjectOwners owners;
    private final PendingErrors errors;
    /** Ids of those that tell a port and do not hold it. */
    private final Set<Long> released;
    private final Set<Long> calling;
    private Consumer<String> warn = _ -> {};
    private boolean saidThatItWaits;

    TcpRestore(JobImage image, ObjectOwners owners) {
        this.owners = owners;
        this.errors = new PendingErrors(image);
        this.released = ids(image, AttributeKind.RELEASED_PORT);
        this.calling = ids(image, AttributeKind.CALLING);
        image.tcpSockets()
                .stream()
                .sorted(Comparator.comparingLong(TcpSocket::id))
                .forEach(socket -> this.sockets.put(socket.id(), socket));
    }

    private static Set<Long> ids(JobImage image, AttributeKind kind) {
        return image.attributes().stream().filter(one -> one.kind() == kind).map(one -> one.values()[0])
                .collect(Collectors.toSet());
    }

    /** Dry run: binds each as a restart would, then closes it. */
    @Override
    public void check() {
        TcpTable table = sockets.isEmpty() ? null : TcpTable.now();
        for (TcpSocket socket : sockets.values()) {
            TcpAddress local = TcpAddress.of(socket.local());
            if (!owners.has(socket.id()) || socket.state() == TcpState.CLOSED || released.contains(socket.id())) {
                continue;
            }
            if (local.port() != 0 || !local.any()) {
                check(socket, link(socket), table);
            } else if (socket.protocol() != TcpOptions.SOL_TCP) {
                Files.close(link(socket).open(socket));
            }
        }
    }

    private static void check(TcpSocket socket, TcpLink link, TcpTable table) {
        int fd = link.open(socket);
        try {
            TcpSetup.options(socket, fd);
            link.bind(fd, socket); // false: a restart would wait for what is on its way out
            link.refuseLiving(socket, table);
        } finally {
            Files.close(fd);
        }
    }

    @Override
    public void make(Consumer<String> told) {
        warn = told;
        each(TcpState.CONNECTED, this::connected);
        each(TcpState.PEER_CLOSED, this::orphan);
        each(TcpState.CLOSED, this::closed);
        each(TcpState.UNCONNECTED, this::single);
        each(TcpState.LISTENING, this::single);
        each(TcpState.WAITING, this::waiting);
        each(TcpState.UNCONNECTED, this::call); // which may be answered now
        // Only now: nobody binds a port any more that one of these has.
        each(TcpState.UNCONNECTED, socket -> TcpSetup.share(socket, made.get(socket.id())));
        for (TcpState bound : List.of(TcpState.UNCONNECTED, TcpState.LISTENING)) {
            each(bound, socket -> TcpSetup.later(socket, made.get(socket.id())));
        }
    }

    @Override
    public Map<Long, Integer> made() {
        return made.all();
    }

    @Override
    public void close() {
        made.close();
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

    private NamedProcess owner(TcpSocket socket) {
        return owners.of(socket.id(), "TCP socket " + socket.id());
    }

    private TcpLink link(TcpSocket socket) {
        return new TcpLink(owner(socket), this::sayThatItWaits);
    }

    private void sayThatItWaits(TcpSocket socket) {
        if (!saidThatItWaits) {
            warn.accept("waiting, for a minute at most, until " + TcpLink.named(socket) + " can have its port again: "
                    + "what is left of an ended connection holds it (TIME_WAIT); a restart by root need not wait");
            saidThatItWaits = true;
        }
    }

    private void connected(TcpSocket socket) {
        if (made.has(socket.id())) {
            return;
        }
        TcpSocket peer = sockets.get(socket.peer());
        if (peer == null || peer.peer() != socket.id()) {
            throw owner(socket).failed("the image is inconsistent: " + TcpLink.named(socket) + " has no peer");
        }
        TcpSocket called = serves(socket) ? socket : peer;
        int[] pair = link(socket).connect(called, called == socket ? peer : socket);
        int own = pair[called == socket ? 0 : 1];
        int other = pair[called == socket ? 1 : 0];
        made.add(socket.id(), own);
        made.add(peer.id(), other);
        TcpCalls.fill(own, other, socket.queued());
        TcpCalls.fill(other, own, peer.queued());
        for (TcpSocket end : List.of(socket, peer)) {
            TcpSetup.options(end, made.get(end.id()));
            TcpSetup.finish(end, made.get(end.id()));
        }
    }

    /**
     * Whether it was probably accepted, and has not called: others have the same address, or a listener hears what
     * comes there.
     */
    private boolean serves(TcpSocket socket) {
        TcpAddress own = TcpAddress.of(socket.local());
        return sockets.values().stream().anyMatch(one -> one.id() != socket.id() && (one.state() == TcpState.LISTENING
                ? TcpAddress.of(one.local()).hears(own) : TcpAddress.of(one.local()).equals(own)));
    }

    /** The other end's bytes arrive, and then it is closed. */
    private void orphan(TcpSocket socket) {
        TcpSocket gone = otherEnd(socket, socket.remote(), socket.local());
        int[] pair = link(socket).connect(socket, gone);
        made.add(socket.id(), pair[0]);
        try {
            TcpCalls.fill(pair[0], pair[1], socket.queued());
        } finally {
            Files.close(pair[1]);
        }
        TcpSetup.options(socket, pair[0]);
        TcpSetup.finish(socket, pair[0]);
    }

    /**
     * Both directions have ended. The kernel keeps no port for it, so that somebody else may have that, or the other
     * end's, by now: then this one's other end is another (SO_PEERNAME), and its own port, too, if need be.
     */
    private void closed(TcpSocket socket) {
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
            throw owner(socket).failed("no port is free at the address of " + TcpLink.named(socket)
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

    private void sayOtherNames(TcpSocket socket) {
        warn.accept("process " + owner(socket).pid() + ": " + TcpLink.named(socket)
                + " had ended, and its ports are in use or its addresses are not of this machine: "
                + "getsockname(2) or SO_PEERNAME returns others now");
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
        TcpLink link = link(socket);
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
            int accepted = link(like).accept(listener,
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

    /** The record of a connection's end that is not in the image. */
    private static TcpSocket otherEnd(TcpSocket like, byte[] local, byte[] remote) {
        return new TcpSocket(0, 0, like.domain(), like.state(), 0, local, remote, new byte[0], 0, 0, like.options(), 0,
                0, -1, 0, 0, "", like.device());
    }

    /** New, bound or listening. Options first: some decide about the port. */
    private void single(TcpSocket socket) {
        TcpLink link = link(socket);
        if (released.contains(socket.id())) {
            released(socket, link);
            return;
        }
        int fd = link.open(socket);
        made.add(socket.id(), fd);
        TcpSetup.options(socket, fd);
        TcpAddress local = TcpAddress.of(socket.local());
        while ((local.port() != 0 || !local.any()) && !bound(fd, socket, link)) {
            link.pause(socket);
        }
        if (socket.state() == TcpState.LISTENING) {
            TcpCalls.listen(fd, socket.backlog());
        }
        TcpSetup.finish(socket, fd);
    }

    /** Where it was to be connected. */
    private void call(TcpSocket socket) {
        if (!calling.contains(socket.id())) {
            return;
        }
        int fd = made.get(socket.id());
        TcpCalls.flags(fd, socket.flags() | Syscall.O_NONBLOCK);
        long result = TcpCalls.begin(fd, socket.remote());
        if (result != 0) {
            warn.accept("process " + owner(socket).pid() + ": " + TcpLink.named(socket)
                    + " was to be connected, and cannot be called from here (" + LinuxError.name((int) -result)
                    + "): it is not connected now");
        }
        TcpCalls.flags(fd, socket.flags());
    }

    /** It has called from that port, and the kernel keeps it for the socket no more. */
    private void released(TcpSocket socket, TcpLink link) {
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

    private static boolean bound(int fd, TcpSocket socket, TcpLink link) {
        PortBinding binding = link.bind(fd, socket);
        binding.end(fd);
        return binding.bound();
    }

    private void waiting(TcpSocket socket) {
        int fd = link(socket).waiting(socket);
        made.add(socket.id(), fd);
        TcpSetup.options(socket, fd);
        TcpSetup.finish(socket, fd);
    }
}
