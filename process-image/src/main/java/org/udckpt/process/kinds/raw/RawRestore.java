package org.udckpt.process.kinds.raw;

import static org.udckpt.linux.LinuxConstants.SOCK_RAW;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.TcpAddress;
import org.udckpt.linux.TcpCalls;
import org.udckpt.process.kinds.base.MadeHere;
import org.udckpt.process.kinds.base.NamedProcess;
import org.udckpt.process.kinds.base.ObjectOwners;
import org.udckpt.process.kinds.socket.MadeSockets;
import org.udckpt.process.kinds.socket.PacketSetup;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.PacketSocket.RawSocket;

/** Makes raw sockets, and ping sockets, in this process, in the network namespace of {@link NetworkCalls#in}. */
final class RawRestore implements MadeHere {
    private final List<RawSocket> sockets;
    private final MadeSockets made = new MadeSockets();
    private final ObjectOwners owners;

    RawRestore(JobImage image, ObjectOwners owners) {
        this.sockets = PacketSetup.of(image, RawSocket.class);
        this.owners = owners;
    }

    @Override
    public void check() {
        make(_ -> {});
    }

    @Override
    public void make(Consumer<String> warn) {
        for (RawSocket socket : sockets) {
            NamedProcess owner = owners.of(socket.id(), name(socket));
            PacketSetup.named(owner, name(socket), () -> make(socket, owner));
            if (socket.unread()) {
                warn.accept(owner.name() + ": packets that " + name(socket) + " had not read are lost");
            }
        }
    }

    private void make(RawSocket socket, NamedProcess owner) {
        int fd = PacketSetup.open(socket, socket.domain(), socket.type(), socket.protocol(), made);
        PacketSetup.device(fd, socket.device());
        TcpAddress local = TcpAddress.of(socket.local());
        // a raw socket has its protocol for a port
        boolean bound = !local.any() || socket.type() != SOCK_RAW && local.port() != 0;
        if (bound) {
            bind(socket, fd, owner);
        }
        if (socket.remote().length > 0) {
            LinuxError.check(TcpCalls.connect(fd, socket.remote()), "connect to " + TcpAddress.of(socket.remote()));
        }
        PacketSetup.options(socket, fd, true);
        TcpCalls.flags(fd, socket.flags());
    }

    /** connect(2) chooses the address from which this machine reaches the other one, if it has not the former one. */
    private static void bind(RawSocket socket, int fd, NamedProcess owner) {
        long result = TcpCalls.bind(fd, socket.local());
        if (result == 0 || result == -LinuxError.EADDRNOTAVAIL && socket.remote().length > 0) {
            return;
        }
        PacketSetup.bind(fd, socket.local(), owner, name(socket),
                () -> "(the identifier of its pings) is in use by another program; end it first");
    }

    /** For messages. */
    static String name(RawSocket socket) {
        return (socket.type() == SOCK_RAW ? "raw socket of protocol " + socket.protocol() : "ping socket") + " at "
                + TcpAddress.of(socket.local());
    }

    @Override
    public Map<Long, Integer> made() {
        return made.all();
    }

    @Override
    public void close() {
        made.close();
    }
}
