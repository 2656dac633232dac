package org.udckpt.process.kinds.udp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.MSG_PEEK;
import static org.udckpt.linux.LinuxConstants.MSG_TRUNC;
import static org.udckpt.linux.LinuxConstants.POLLERR;
import static org.udckpt.linux.LinuxConstants.POLLIN;
import static org.udckpt.linux.LinuxConstants.POLLRDHUP;
import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalInt;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TcpAddress;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.socket.BoundPorts;
import org.udckpt.process.kinds.socket.SocketCapture;
import org.udckpt.process.kinds.socket.SocketOptions;
import org.udckpt.process.kinds.socket.SocketQueue;
import org.udckpt.process.kinds.socket.SocketType;
import org.udckpt.process.model.PacketOptions;
import org.udckpt.process.model.PacketSocket.UdpSocket;
import org.udckpt.process.model.TcpOptions;

/**
 * UDP sockets with their unread datagrams. Who sends to them, or gets what they send, does not matter: it may be
 * anywhere.
 */
final class UdpCapture implements SocketCapture {
    private static final int IPPROTO_UDP = 17;
    private static final int DATAGRAM_BYTES = 1 << 16;
    private static final int MCAST_MSFILTER = 48, GROUP_FILTER_BYTES = 144, LENGTH = 1024;

    private final ObjectTable table;
    private final List<UdpSocket> found = new ArrayList<>();

    UdpCapture(CaptureScope scope) {
        this.table = scope.table();
    }

    @Override
    public boolean takes(SocketType type) {
        return type.internet(SOCK_DGRAM, IPPROTO_UDP);
    }

    @Override
    public long read(OpenDescriptor open, int socket, SocketType type) {
        long id = table.newId();
        found.add(read(open, socket, type.domain(), id));
        return id;
    }

    @Override
    public void finish() {
        BoundPorts.udp(found).forEach(table::add);
    }

    /** @param senders an address for each datagram */
    record Queue(byte[] bytes, int[] lengths, byte[] senders) {}

    /** @param socket a duplicate of {@code open} */
    private static UdpSocket read(OpenDescriptor open, int socket, int domain, long id) {
        byte[] local = name(Syscall.GETSOCKNAME, socket);
        byte[] remote = name(Syscall.GETPEERNAME, socket);
        refuseOddities(open, socket, local);
        int events = events(socket);
        if ((events & POLLRDHUP) != 0) {
            throw open.refuse("a UDP socket that was shut (shutdown(2)) cannot be checkpointed; close it");
        }
        Queue queue = (events & POLLIN) == 0 ? new Queue(new byte[0], new int[0], new byte[0]) : peek(socket, domain);
        try (SocketOptions options = new SocketOptions(SOCK_DGRAM, IPPROTO_UDP, PacketOptions.UDP)) {
            return new UdpSocket(id, open.openFlags(), domain, local, remote, queue.bytes, queue.lengths, queue.senders,
                    SocketOptions.withLinger(options.changed(domain, socket), socket),
                    SocketOptions.receiveTimeoutUs(socket), SocketOptions.sendTimeoutUs(socket),
                    SocketOptions.chosenSendBuffer(socket), SocketOptions.chosenReceiveBuffer(socket),
                    SocketOptions.device(socket));
        }
    }

    private static byte[] name(int call, int socket) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, SocketQueue.NAME);
        long result = Syscall.call(call, socket, data.address() + 8, data.address());
        if (result == -LinuxError.ENOTCONN) {
            return new byte[0];
        }
        LinuxError.check(result, "name of a socket");
        return data.asSlice(8, data.get(JAVA_INT, 0)).toArray(JAVA_BYTE);
    }

    private static void refuseOddities(OpenDescriptor open, int socket, byte[] local) {
        String what = "UDP socket " + TcpAddress.of(local);
        if (positive(SocketOptions.number(socket, PacketOptions.SOL_UDP, PacketOptions.UDP_CORK))) {
            throw open.failed(what + " is corked (UDP_CORK), and its pending data cannot be read");
        }
        if (positive(SocketOptions.number(socket, PacketOptions.SOL_UDP, PacketOptions.UDP_ENCAP))) {
            throw open.refuse(what + ": a socket of a tunnel (UDP_ENCAP) cannot be checkpointed; close it first");
        }
        for (String group : List.of("igmp", "igmp6")) {
            refuseMember(open, socket, what, group.equals("igmp"));
        }
    }

    private static boolean positive(OptionalInt option) {
        return option.orElse(0) != 0;
    }

    /**
     * A socket does not tell its multicast groups, but whether it is in a given one; and the network namespace tells
     * all that have members.
     */
    private static void refuseMember(OpenDescriptor open, int socket, String what, boolean ipv4) {
        int device = 0;
        for (String line : Proc.text("/proc/" + open.process().pid() + "/net/" + (ipv4 ? "igmp" : "igmp6"))
                .split("\n")) {
            String[] words = line.strip().split("\\s+");
            boolean header = ipv4 && !line.startsWith("\t");
            if (words.length < 3 || words[0].equals("Idx")) {
                continue;
            }
            device = header || !ipv4 ? Integer.parseInt(words[0]) : device;
            if (!header && member(socket, device, HexFormat.of().parseHex(words[ipv4 ? 0 : 2]), ipv4)) {
                throw open.refuse(
                        what + ": a socket in a multicast group cannot be checkpointed; leave the group first");
            }
        }
    }

    /**
     * MCAST_MSFILTER (RFC 3678) of a group of which it is no member is EADDRNOTAVAIL; of a socket of the other family,
     * whatever.
     */
    private static boolean member(int socket, int device, byte[] group, boolean ipv4) {
        // struct group_filter: interface, padding, group (sockaddr_storage), mode, count
        MemorySegment filter = Scratch.data();
        filter.asSlice(0, GROUP_FILTER_BYTES).fill((byte) 0);
        filter.set(JAVA_INT, 0, device);
        filter.set(JAVA_SHORT, 8, (short) (ipv4 ? TcpAddress.IPV4 : TcpAddress.IPV6));
        for (int i = 0; i < group.length; i++) {
            // igmp prints the address as a number of this machine's byte order, igmp6 its bytes
            filter.set(JAVA_BYTE, (ipv4 ? 12 : 16) + i, group[ipv4 ? group.length - 1 - i : i]);
        }
        filter.set(JAVA_INT, LENGTH, GROUP_FILTER_BYTES);
        return Syscall.call(Syscall.GETSOCKOPT, socket, ipv4 ? TcpOptions.SOL_IP : TcpOptions.SOL_IPV6, MCAST_MSFILTER,
                filter.address(), filter.address() + LENGTH)
                == 0;
    }

    private static int events(int socket) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, socket);
        data.set(JAVA_INT, 4, POLLIN | POLLRDHUP);
        LinuxError.check(Syscall.call(Syscall.POLL, data.address(), 1, 0), "poll of a socket");
        return data.get(JAVA_INT, 4) >>> 16;
    }

    /**
     * An error that waits (ECONNREFUSED) is told to who looks first; that it was is the price of what waits behind it.
     * A look with an offset passes over an empty datagram that was looked at before (by an earlier checkpoint), one
     * without shows it where it is the first.
     */
    static Queue peek(int socket, int domain) {
        int before = SocketQueue.option(socket, SocketQueue.SO_PEEK_OFF);
        Look look = new Look(domain);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(DATAGRAM_BYTES);
            MemorySegment header = arena.allocate(SocketQueue.MESSAGE_HEADER + 16 + SocketQueue.NAME, 8);
            SocketQueue.setPeekOffset(socket, SocketQueue.NO_OFFSET);
            boolean error = (events(socket) & POLLERR) != 0;
            long first = receive(socket, header, buffer);
            if (first < 0 && error) {
                first = receive(socket, header, buffer);
            }
            if (first == 0) {
                look.add(header, buffer, 0);
            }
            SocketQueue.setPeekOffset(socket, 0); // each further look goes on behind the last one (socket(7))
            for (long n = receive(socket, header, buffer); n >= 0; n = receive(socket, header, buffer)) {
                look.add(header, buffer, n);
            }
        } finally {
            SocketQueue.setPeekOffset(socket, before);
        }
        return look.queue();
    }

    /** What a look into a queue has seen so far. */
    private static final class Look {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final ByteArrayOutputStream senders = new ByteArrayOutputStream();
        private final int domain;
        private int[] lengths = new int[0];

        Look(int domain) {
            this.domain = domain;
        }

        void add(MemorySegment header, MemorySegment buffer, long length) {
            bytes.write(buffer.asSlice(0, length).toArray(JAVA_BYTE), 0, (int) length);
            senders.writeBytes(
                    header.asSlice(SocketQueue.MESSAGE_HEADER + 16, UdpSocket.addressBytes(domain)).toArray(JAVA_BYTE));
            lengths = Arrays.copyOf(lengths, lengths.length + 1);
            lengths[lengths.length - 1] = (int) length;
        }

        Queue queue() {
            return new Queue(bytes.toByteArray(), lengths, senders.toByteArray());
        }
    }

    /** Bytes of the next datagram; negative: no more, or an error that waited. */
    private static long receive(int socket, MemorySegment header, MemorySegment buffer) {
        SocketQueue.prepare(header, buffer);
        long n = Syscall.call(Syscall.RECVMSG, socket, header.address(), MSG_PEEK | MSG_DONTWAIT);
        if (n >= 0 && (header.get(JAVA_INT, 48) & MSG_TRUNC) != 0) {
            // udp(7) knows none
            throw new IllegalStateException("a datagram of more than " + DATAGRAM_BYTES + " bytes");
        }
        return n;
    }
}
