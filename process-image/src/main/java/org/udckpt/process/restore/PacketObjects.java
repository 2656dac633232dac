package org.udckpt.process.restore;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.PacketCalls;
import org.udckpt.linux.TcpAddress;
import org.udckpt.linux.TcpCalls;
import org.udckpt.process.model.BindOptions;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.PacketOptions;
import org.udckpt.process.model.PacketSocket;
import org.udckpt.process.model.PacketSocket.NetlinkSocket;
import org.udckpt.process.model.PacketSocket.UdpSocket;
import org.udckpt.process.model.SocketLevel;
import org.udckpt.process.model.TcpOptions;

/**
 * Makes UDP and netlink sockets, in this process, which is in the same network namespace, and hands them over. Datagrams that were not
 * read are sent again, from the addresses of their senders. That needs these addresses: of another machine, or of a program that has taken
 * the port, nobody can send here, and such a datagram is lost, as any may be (udp(7)); it is said how many.
 */
final class PacketObjects implements AutoCloseable {
    private static final int SOCK_DGRAM = 2, AF_NETLINK = 16, EADDRINUSE = 98, EADDRNOTAVAIL = 99, NETLINK_ADD_MEMBERSHIP = 1;
    private static final int SO_SNDBUF = 7, SO_RCVBUF = 8, SO_RCVTIMEO = 20, SO_SNDTIMEO = 21, SO_BINDTODEVICE = 25;

    private final List<UdpSocket> udp = new ArrayList<>();
    private final List<NetlinkSocket> netlink = new ArrayList<>();
    /** id -> descriptor in this process */
    private final Map<Long, Integer> made = new LinkedHashMap<>();
    /** object id -> the first process that has a descriptor of it */
    private final Map<Long, Owner> owners;

    PacketObjects(JobImage image, Owners owners) {
        this.owners = owners.ofObjects();
        for (PacketSocket socket : image.packetSockets()) {
            switch (socket) {
                case UdpSocket one -> udp.add(one);
                case NetlinkSocket one -> netlink.add(one);
            }
        }
    }

    /** With their addresses, and nothing else: for who makes them, and for who only asks whether they could be had. */
    void bind() {
        netlink.forEach(socket -> named(socket, this::netlink));
        udp.forEach(socket -> named(socket, this::bound));
    }

    /** All of them, in this process. */
    void make() {
        bind();
        udp.forEach(socket -> named(socket, this::fill)); // when those of the job that sent are there, and before any hears one address only
        udp.forEach(socket -> named(socket, this::later));
        udp.forEach(socket -> named(socket, this::connect));
        udp.forEach(socket -> TcpCalls.flags(made.get(socket.id()), socket.flags()));
    }

    /** To the processes that have them. */
    void give(Map<Integer, Puppet> puppets, Handles handles) {
        made.keySet().stream().collect(Collectors.groupingBy(id -> puppets.get(owners.get(id).pid()), LinkedHashMap::new, Collectors.toList()))
                .forEach((owner, ids) -> Handover.give(owner, handles, ids, ids.stream().map(made::get).toList()));
    }

    @Override
    public void close() {
        made.values().forEach(Files::close);
        made.clear();
    }

    private interface Step<S> {
        void make(S socket);
    }

    private <S extends PacketSocket> void named(S socket, Step<S> step) {
        try {
            step.make(socket);
        } catch (LinuxError e) {
            throw owner(socket).failed(name(socket) + ": " + e.getMessage());
        }
    }

    private Owner owner(PacketSocket socket) {
        Owner owner = owners.get(socket.id());
        if (owner == null) {
            throw new RestoreException(RestoreException.Reason.FAILED, name(socket) + " of the image belongs to no process");
        }
        return owner;
    }

    private static String name(PacketSocket socket) {
        return switch (socket) {
            case UdpSocket one -> "UDP socket " + TcpAddress.of(one.local());
            case NetlinkSocket one -> "netlink socket with port " + Integer.toUnsignedString(one.port());
        };
    }

    private int open(PacketSocket socket, int domain, int type, int protocol) {
        owner(socket);
        int fd = PacketCalls.open(domain, type, protocol);
        made.put(socket.id(), fd);
        options(socket, fd, false);
        if (socket.sendBuffer() > 0) {
            TcpCalls.option(fd, TcpOptions.SOL_SOCKET, SO_SNDBUF, socket.sendBuffer() / 2); // the kernel doubles what it is given (socket(7))
        }
        if (socket.receiveBuffer() > 0) {
            TcpCalls.option(fd, TcpOptions.SOL_SOCKET, SO_RCVBUF, socket.receiveBuffer() / 2);
        }
        TcpSetup.timeout(fd, SO_RCVTIMEO, socket.receiveTimeoutUs());
        TcpSetup.timeout(fd, SO_SNDTIMEO, socket.sendTimeoutUs());
        return fd;
    }

    private static void options(PacketSocket socket, int fd, boolean later) {
        int[] options = socket.options();
        for (int i = 0; i < options.length; i += 3) {
            if (BindOptions.later(options, i) == later) {
                TcpCalls.option(fd, options[i], options[i + 1], SocketLevel.argument(options, i));
            }
        }
    }

    /** What had to be otherwise as long as not all were bound. */
    private void later(UdpSocket socket) {
        options(socket, made.get(socket.id()), true);
    }

    private void netlink(NetlinkSocket socket) {
        int fd = open(socket, AF_NETLINK, socket.type(), socket.protocol());
        if (socket.port() != 0) {
            byte[] name = new byte[12]; // struct sockaddr_nl
            name[0] = AF_NETLINK;
            for (int i = 0; i < 4; i++) {
                name[4 + i] = (byte) (socket.port() >>> 8 * i);
            }
            bind(socket, fd, name);
        }
        for (int group : socket.groups()) {
            TcpCalls.option(fd, PacketOptions.SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group);
        }
        TcpCalls.flags(fd, socket.flags());
    }

    private void bind(PacketSocket socket, int fd, byte[] name) {
        long result = TcpCalls.bind(fd, name);
        if (result == -EADDRINUSE) {
            throw owner(socket).inUse(name(socket) + ": its port " + (socket instanceof UdpSocket udp ? Ports.taken("udp", TcpAddress.of(udp.local()).port())
                    : "is taken, by another program or because the job still runs; end it first"));
        }
        if (result == -EADDRNOTAVAIL) {
            throw owner(socket).unsupported(name(socket) + ": this machine does not have that address; restart where it is");
        }
        LinuxError.check(result, "bind");
    }

    private void bound(UdpSocket socket) {
        int fd = open(socket, socket.domain(), SOCK_DGRAM, 0);
        if (!socket.device().isEmpty()) {
            TcpCalls.option(fd, TcpOptions.SOL_SOCKET, SO_BINDTODEVICE, socket.device().getBytes(StandardCharsets.UTF_8));
        }
        TcpAddress local = TcpAddress.of(socket.local());
        if (local.port() == 0 && local.any()) {
            return;
        }
        if (socket.remote().length > 0 && !here(socket)) { // connect(2) chooses the address from which this machine reaches the other one
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
        int probe = PacketCalls.open(socket.domain(), SOCK_DGRAM, 0);
        try {
            return TcpCalls.bind(probe, UdpAddress.withPort(socket.local(), 0)) != -EADDRNOTAVAIL;
        } finally {
            Files.close(probe);
        }
    }

    private void connect(UdpSocket socket) {
        if (socket.remote().length > 0) {
            LinuxError.check(TcpCalls.connect(made.get(socket.id()), socket.remote()), "connect to " + TcpAddress.of(socket.remote()));
        }
    }

    /** Of sockets that share a port (SO_REUSEPORT) the kernel chooses one by the sender, unless it is told which. */
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
            System.err.println("udckpt: " + owner(socket).name() + ": " + lost + " of " + socket.lengths().length + " unread datagrams of " + name(socket)
                    + " are lost: they came from where this machine cannot send from");
        }
    }

    private boolean sendAgain(UdpSocket to, byte[] sender, byte[] message) {
        TcpAddress from = TcpAddress.of(sender);
        for (UdpSocket own : udp) {
            if (TcpAddress.of(own.local()).hears(from)) {
                return PacketCalls.send(made.get(own.id()), message, UdpAddress.as(own.domain(), target(to, sender))) == message.length;
            }
        }
        int stranger = PacketCalls.open(to.domain(), SOCK_DGRAM, 0);
        try {
            return TcpCalls.bind(stranger, sender) == 0 && PacketCalls.send(stranger, message, target(to, sender)) == message.length;
        } finally {
            Files.close(stranger);
        }
    }

    /** Its address; of one that hears all of this machine's, the sender's, which is one of them where it can be sent from. */
    private static byte[] target(UdpSocket to, byte[] sender) {
        TcpAddress local = TcpAddress.of(to.local());
        return local.any() ? UdpAddress.withPort(sender, local.port()) : to.local();
    }
}
