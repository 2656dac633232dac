package org.udckpt.process.kinds.udp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.MSG_PEEK;
import static org.udckpt.linux.LinuxConstants.MSG_TRUNC;
import static org.udckpt.linux.LinuxConstants.POLLERR;
import static org.udckpt.linux.LinuxConstants.POLLIN;
import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TcpAddress;
import org.udckpt.linux.UnsentDatagram;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.socket.BoundPorts;
import org.udckpt.process.kinds.socket.InternetName;
import org.udckpt.process.kinds.socket.MulticastGroups;
import org.udckpt.process.kinds.socket.SocketCapture;
import org.udckpt.process.kinds.socket.SocketEvents;
import org.udckpt.process.kinds.socket.SocketOptions;
import org.udckpt.process.kinds.socket.SocketQueue;
import org.udckpt.process.kinds.socket.SocketType;
import org.udckpt.process.model.PacketOptions;
import org.udckpt.process.model.PacketSocket.UdpSocket;
import org.udckpt.process.model.SocketLevel;

/**
 * UDP sockets with their unread datagrams. Who sends to them, or gets what they send, does not matter: it may be
 * anywhere.
 */
final class UdpCapture implements SocketCapture {
    private static final int DATAGRAM_BYTES = 1 << 16;

    private final ObjectTable table;
    /** By network namespace; null: the one in which the job was started. */
    private final Map<NetworkCalls, List<UdpSocket>> found = new LinkedHashMap<>();

    UdpCapture(CaptureScope scope) {
        this.table = scope.table();
    }

    @Override
    public boolean takes(SocketType type) {
        return type.internet(SOCK_DGRAM, PacketOptions.SOL_UDP) || type.internet(SOCK_DGRAM, PacketOptions.SOL_UDPLITE);
    }

    @Override
    public long read(OpenDescriptor open, int socket, SocketType type) {
        long id = table.newId();
        UdpSocket read = read(open, socket, type, id);
        found.computeIfAbsent(NetworkCalls.current(), _ -> new ArrayList<>()).add(read);
        UnsentDatagram collected = UdpUnsent.collected(open, read, socket);
        if (collected != null) {
            table.add(UdpUnsent.of(collected, read, table.newId()));
        }
        UdpShutdown.of(read, socket, collected, table.newId()).ifPresent(table::add);
        return id;
    }

    @Override
    public void finish() {
        found.forEach((network, sockets) -> NetworkCalls.in(network,
                () -> BoundPorts.udp(sockets).forEach(table::add)));
    }

    /** @param senders an address for each datagram */
    record Queue(byte[] bytes, int[] lengths, byte[] senders) {}

    /** @param socket a duplicate of {@code open} */
    private static UdpSocket read(OpenDescriptor open, int socket, SocketType type, long id) {
        int domain = type.domain();
        byte[] local = InternetName.of(Syscall.GETSOCKNAME, socket);
        byte[] remote = InternetName.of(Syscall.GETPEERNAME, socket);
        refuseOddities(open, socket, local);
        Queue queue = (SocketEvents.of(socket) & POLLIN) == 0
                ? new Queue(new byte[0], new int[0], new byte[0])
                : peek(socket, domain);
        try (SocketOptions options = new SocketOptions(SOCK_DGRAM, type.protocol(), PacketOptions.UDP)) {
            return new UdpSocket(id, open.openFlags(), domain, local, remote, queue.bytes, queue.lengths, queue.senders,
                    corked(socket, ofProtocol(type, SocketOptions.withLinger(options.changed(domain, socket), socket))),
                    SocketOptions.receiveTimeoutUs(socket), SocketOptions.sendTimeoutUs(socket),
                    SocketOptions.chosenSendBuffer(socket), SocketOptions.chosenReceiveBuffer(socket),
                    SocketOptions.device(socket));
        }
    }

    private static void refuseOddities(OpenDescriptor open, int socket, byte[] local) {
        String what = "UDP socket " + TcpAddress.of(local);
        if (positive(SocketOptions.number(socket, PacketOptions.SOL_UDP, PacketOptions.UDP_ENCAP))) {
            throw open.refuse(what + ": a socket of a tunnel (UDP_ENCAP) cannot be checkpointed; close it first");
        }
        MulticastGroups.refuseMember(open, socket, what);
    }

    private static boolean isCorked(int socket) {
        return positive(SocketOptions.number(socket, PacketOptions.SOL_UDP, PacketOptions.UDP_CORK));
    }

    /** UDP_CORK is set again when other sockets have got from this one what they had not read. */
    private static int[] corked(int socket, int[] options) {
        return isCorked(socket)
                ? joined(options, PacketOptions.SOL_UDP, PacketOptions.UDP_CORK, 0, PacketOptions.SOL_UDP,
                        PacketOptions.UDP_CORK, 1)
                : options;
    }

    private static int[] ofProtocol(SocketType type, int[] options) {
        return type.protocol() == PacketOptions.SOL_UDP ? options : SocketLevel.ofProtocol(type.protocol(), options);
    }

    private static int[] joined(int[] options, int... more) {
        int[] all = Arrays.copyOf(options, options.length + more.length);
        System.arraycopy(more, 0, all, options.length, more.length);
        return all;
    }

    private static boolean positive(OptionalInt option) {
        return option.orElse(0) != 0;
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
            boolean error = (SocketEvents.of(socket) & POLLERR) != 0;
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
