package org.udckpt.process.kinds.tcp;

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
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.TcpOptions;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TcpSocket.TcpState;

/**
 * Makes TCP sockets: first connections between the addresses and ports that they had, with what was unread; then bound
 * sockets and listeners (made later, since they would accept those connections); then the connections that wait to be
 * accepted. They are made in this process, in the network namespace of {@link NetworkCalls#in}, and handed over; those
 * of the namespace in which the job was started before the job's clock is set, since a port may have to be waited for.
 * What had ended: {@link FormerConnections}.
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
                .sorted((one, other) -> Long.compare(one.id(), other.id()))
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
        FormerConnections former = new FormerConnections(sockets, made, owners, errors, this::link, told);
        each(TcpState.CONNECTED, this::connected);
        each(TcpState.PEER_CLOSED, this::orphan);
        each(TcpState.CLOSED, former::closed);
        each(TcpState.UNCONNECTED, socket -> {
            if (released.contains(socket.id())) {
                former.released(socket);
            } else {
                single(socket);
            }
        });
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

    /** The record of a connection's end that is not in the image. */
    private static TcpSocket otherEnd(TcpSocket like, byte[] local, byte[] remote) {
        return new TcpSocket(0, 0, like.domain(), like.state(), 0, local, remote, new byte[0], 0, 0, like.options(), 0,
                0, -1, 0, 0, "", like.device());
    }

    /** New, bound or listening. Options first: some decide about the port. */
    private void single(TcpSocket socket) {
        TcpLink link = link(socket);
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
