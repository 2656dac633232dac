package org.udckpt.process.kinds.udp;

import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.PacketCalls;
import org.udckpt.linux.TcpAddress;
import org.udckpt.linux.TcpCalls;
import org.udckpt.process.kinds.base.MadeHere;
import org.udckpt.process.kinds.base.NamedProcess;
import org.udckpt.process.kinds.base.ObjectOwners;
import org.udckpt.process.kinds.socket.MadeSockets;
import org.udckpt.process.kinds.socket.PacketSetup;
import org.udckpt.process.kinds.socket.TakenPorts;
import org.udckpt.process.model.BindOptions;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.PacketOptions;
import org.udckpt.process.model.PacketSocket.UdpSocket;
import org.udckpt.process.model.TcpOptions;

/**
 * Makes UDP sockets in this process, in the network namespace of {@link NetworkCalls#in}. Datagrams that were not
 * read are sent again, from the addresses of their senders. That needs these addresses: of another machine, or of a
 * program that has taken the port, nobody can send here, and such a datagram is lost, as any may be (udp(7)); it is
 * said how many.
 */
final class UdpRestore implements MadeHere {
    private final List<UdpSocket> udp;
    private final MadeSockets made = new MadeSockets();
    private final ObjectOwners owners;
    private final List<UdpShutdown> shut;
    private final List<UdpUnsent> unsent;

    UdpRestore(JobImage image, ObjectOwners owners) {
        this.udp = PacketSetup.of(image, UdpSocket.class);
        this.owners = owners;
        this.shut = all(image, UdpShutdown.class);
        this.unsent = all(image, UdpUnsent.class);
    }

    private static <T> List<T> all(JobImage image, Class<T> record) {
        return image.objects().stream().filter(record::isInstance).map(record::cast).toList();
    }

    /** With their addresses, and nothing else. */
    @Override
    public void check() {
        each(this::bound);
    }

    @Override
    public void make(Consumer<String> warn) {
        each(this::bound);
        each(this::fill); // when those of the job that sent are there, and before any hears one address only
        each(socket -> PacketSetup.options(socket, made.get(socket.id()), true));
        each(this::connect);
        each(this::collect);
        each(this::shut);
        udp.forEach(socket -> TcpCalls.flags(made.get(socket.id()), socket.flags()));
    }

    @Override
    public Map<Long, Integer> made() {
        return made.all();
    }

    @Override
    public void close() {
        made.close();
    }

    private void each(Consumer<UdpSocket> step) {
        udp.forEach(socket -> PacketSetup.named(owner(socket), name(socket), () -> step.accept(socket)));
    }

    private NamedProcess owner(UdpSocket socket) {
        return owners.of(socket.id(), name(socket));
    }

    private static String name(UdpSocket socket) {
        return "UDP socket " + TcpAddress.of(socket.local());
    }

    private void bind(UdpSocket socket, int fd, byte[] address) {
        PacketSetup.bind(fd, address, owner(socket), name(socket),
                () -> TakenPorts.holder(socket.protocol() == PacketOptions.SOL_UDP ? "udp" : "udplite",
                        TcpAddress.of(socket.local()).port()));
    }

    private void bound(UdpSocket socket) {
        int fd = PacketSetup.open(socket, socket.domain(), SOCK_DGRAM, socket.protocol(), made);
        PacketSetup.device(fd, socket.device());
        TcpAddress local = TcpAddress.of(socket.local());
        if (local.port() == 0 && local.any()) {
            return;
        }
        // connect(2) chooses the address from which this machine reaches the other one
        if (socket.remote().length > 0 && !here(socket)) {
            bind(socket, fd, UdpAddress.anyWithPort(socket.domain(), local.port()));
        } else {
            bind(socket, fd, socket.local());
        }
    }

    /** Whether this machine has its address, or it needs none that this machine has. */
    private static boolean here(UdpSocket socket) {
        if (BindOptions.had(socket.options(), TcpOptions.SOL_IP, BindOptions.IP_FREEBIND)) {
            return true;
        }
        int probe = PacketCalls.open(socket.domain(), SOCK_DGRAM, socket.protocol());
        try {
            return TcpCalls.bind(probe, UdpAddress.withPort(socket.local(), 0)) != -LinuxError.EADDRNOTAVAIL;
        } finally {
            Files.close(probe);
        }
    }

    private void connect(UdpSocket socket) {
        if (socket.remote().length > 0) {
            LinuxError.check(TcpCalls.connect(made.get(socket.id()), socket.remote()),
                    "connect to " + TcpAddress.of(socket.remote()));
        }
    }

    private void collect(UdpSocket socket) {
        unsent.stream().filter(one -> one.object() == socket.id()).forEach(one -> {
            long sent = one.apply(made.get(socket.id()));
            if (sent < 0) {
                System.err.println("udckpt: " + owner(socket).name() + ": what " + name(socket)
                        + " had collected of a datagram is lost: " + LinuxError.name((int) sent));
            }
        });
    }

    private void shut(UdpSocket socket) {
        shut.stream().filter(one -> one.object() == socket.id()).forEach(one -> one.apply(made.get(socket.id())));
    }

    /**
     * Fills a socket's queue. Among sockets that share a port (SO_REUSEPORT) the kernel would choose one by the sender.
     */
    private void fill(UdpSocket socket) {
        List<UdpSocket> group = udp.stream().filter(other -> other.sharesPort(socket)).toList();
        if (group.size() < 2 || socket.lengths().length == 0) {
            sendAllAgain(socket);
            return;
        }
        PacketCalls.chooseOfGroup(made.get(socket.id()), group.indexOf(socket)); // they were bound in this order
        try {
            sendAllAgain(socket);
        } finally {
            PacketCalls.chooseBySender(made.get(socket.id()));
        }
    }

    private void sendAllAgain(UdpSocket socket) {
        int lost = 0;
        int at = 0;
        int one = UdpSocket.addressBytes(socket.domain());
        for (int i = 0; i < socket.lengths().length; i++) {
            byte[] sender = Arrays.copyOfRange(socket.senders(), i * one, (i + 1) * one);
            byte[] message = Arrays.copyOfRange(socket.queued(), at, at + socket.lengths()[i]);
            at += message.length;
            lost += sendAgain(socket, sender, message) ? 0 : 1;
        }
        if (lost > 0) {
            System.err.println("udckpt: " + owner(socket).name() + ": " + lost + " of " + socket.lengths().length
                    + " unread datagrams of " + name(socket)
                    + " are lost: this machine cannot send from their source addresses");
        }
    }

    private boolean sendAgain(UdpSocket to, byte[] sender, byte[] message) {
        TcpAddress from = TcpAddress.of(sender);
        for (UdpSocket own : udp) {
            if (own.protocol() == to.protocol() && TcpAddress.of(own.local()).hears(from)) {
                return PacketCalls.send(made.get(own.id()), message, UdpAddress.as(own.domain(), target(to, sender)))
                        == message.length;
            }
        }
        int stranger = PacketCalls.open(to.domain(), SOCK_DGRAM, to.protocol());
        try {
            return TcpCalls.bind(stranger, sender) == 0
                    && PacketCalls.send(stranger, message, target(to, sender)) == message.length;
        } finally {
            Files.close(stranger);
        }
    }

    /**
     * Its address; of one that hears all of this machine's, the sender's, which is one of them where it can be sent
     * from.
     */
    private static byte[] target(UdpSocket to, byte[] sender) {
        TcpAddress local = TcpAddress.of(to.local());
        return local.any() ? UdpAddress.withPort(sender, local.port()) : to.local();
    }
}
