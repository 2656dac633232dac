package org.udckpt.process.kinds.netlink;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.AF_NETLINK;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.MSG_PEEK;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.Proc;
import org.udckpt.linux.RouteMessages;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.socket.SocketCapture;
import org.udckpt.process.kinds.socket.SocketOptions;
import org.udckpt.process.kinds.socket.SocketQueue;
import org.udckpt.process.kinds.socket.SocketType;
import org.udckpt.process.model.PacketOptions;
import org.udckpt.process.model.PacketSocket.NetlinkSocket;

/**
 * Netlink sockets that ask the kernel questions, as many programs do through the C library (getaddrinfo, if_nameindex),
 * and those that listen to its news. An answer that was not read cannot be put back: only the kernel sends it, so the
 * capture is tried again.
 */
final class NetlinkCapture implements SocketCapture {
    /**
     * NETLINK_ROUTE, _SOCK_DIAG, _XFRM, _SELINUX, _AUDIT, _FIB_LOOKUP, _KOBJECT_UEVENT, _SCSITRANSPORT, _RDMA, _CRYPTO:
     * the kernel keeps nothing for them but what is in {@link NetlinkSocket}.
     */
    private static final Set<Integer> KNOWN = Set.of(0, 4, 6, 7, 9, 10, 15, 18, 20, 21);
    /** AUDIT_GET answers with a struct audit_status (linux/audit.h). */
    private static final int AUDIT = 9, AUDIT_GET = 1000, AUDIT_PID = 12;
    private static final int NETLINK_LIST_MEMBERSHIPS = 9, GROUP_BYTES = 512, LENGTH = 1024;
    /** Of a struct sockaddr_nl at {@link #address}. */
    private static final int PORT = 12, GROUPS = 16;
    private static final int TABLE_DUMP = 6, TABLE_INODE = 9;

    private static final int TABLE_FAMILY = 1, TABLE_PORT = 2;

    /** Connected to the port of another socket. */
    private record Connected(OpenDescriptor open, NetworkCalls network, int protocol, int port) {}

    private final ObjectTable table;
    private final List<Connected> connected = new ArrayList<>();
    private final Set<Long> inodes = new HashSet<>();

    NetlinkCapture(CaptureScope scope) {
        this.table = scope.table();
    }

    @Override
    public boolean takes(SocketType type) {
        return type.netlink();
    }

    @Override
    public long read(OpenDescriptor open, int socket, SocketType type) {
        long id = table.newId();
        NetlinkSocket read = read(open, socket, type.type(), id);
        table.add(read);
        inodes.add(open.stat().inode());
        address(Syscall.GETPEERNAME, socket);
        NetlinkPeer peer = new NetlinkPeer(table.newId(), id, Scratch.data().get(JAVA_INT, PORT),
                Scratch.data().get(JAVA_INT, GROUPS));
        if (peer.port() != 0 || peer.groups() != 0) {
            table.add(peer);
        }
        if (peer.port() != 0) {
            connected.add(new Connected(open, NetworkCalls.current(), read.protocol(), peer.port()));
        }
        return id;
    }

    /** A port that nobody has is kept as one: who sends to it is told so, as before. */
    @Override
    public void finish() {
        connected.forEach(one -> NetworkCalls.in(one.network, () -> checkPeer(one)));
    }

    private void checkPeer(Connected one) {
        boolean outside = lines().anyMatch(words -> words[TABLE_FAMILY].equals(Integer.toString(one.protocol))
                && words[TABLE_PORT].equals(Integer.toUnsignedString(one.port))
                && !inodes.contains(Long.parseLong(words[TABLE_INODE])));
        if (outside) {
            table.outside().add(one.open, "this netlink socket is connected to a socket outside of the job",
                    "close it before a checkpoint");
        }
    }

    /** @param socket a duplicate of {@code open} */
    private static NetlinkSocket read(OpenDescriptor open, int socket, int type, long id) {
        int protocol = SocketQueue.option(socket, SocketQueue.SO_PROTOCOL);
        if (!KNOWN.contains(protocol)) {
            throw open.refuse(
                    "a netlink socket of family " + protocol + " (netlink(7)) cannot be checkpointed; close it first");
        }
        if (protocol == AUDIT && auditDaemon() == open.process().pid()) {
            throw open.refuse("it is the system's audit daemon's (auditd(8)), which cannot be checkpointed");
        }
        int port = address(Syscall.GETSOCKNAME, socket);
        if (Syscall.call(Syscall.RECVFROM, socket, Scratch.data().address(), 1, MSG_PEEK | MSG_DONTWAIT, 0, 0)
                != -LinuxError.EAGAIN
                || answering(open)) {
            throw open.failed("it has not read all answers of the kernel from this netlink socket");
        }
        try (SocketOptions options = new SocketOptions(type, protocol, PacketOptions.NETLINK)) {
            return new NetlinkSocket(id, open.openFlags(), type, protocol, port, groups(socket),
                    SocketOptions.withLinger(options.changed(AF_NETLINK, socket), socket),
                    SocketOptions.receiveTimeoutUs(socket), SocketOptions.sendTimeoutUs(socket),
                    SocketOptions.chosenSendBuffer(socket), SocketOptions.chosenReceiveBuffer(socket));
        }
    }

    /** 0: there is none, or only root may know of one. */
    private static int auditDaemon() {
        try (RouteMessages audit = new RouteMessages(AUDIT)) {
            byte[] status = audit.ask(AUDIT_GET);
            return status.length < AUDIT_PID + Integer.BYTES ? 0
                    : RouteMessages.buffer(status).getInt(AUDIT_PID);
        } catch (LinuxError none) {
            return 0;
        }
    }

    /** nl_pid of a struct sockaddr_nl. */
    private static int address(int call, int socket) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, 12);
        LinuxError.check(Syscall.call(call, socket, data.address() + 8, data.address()), "name of a netlink socket");
        return data.get(JAVA_INT, PORT);
    }

    /** The answer is longer than the queue: the kernel goes on when something was read. */
    private static boolean answering(OpenDescriptor open) {
        String inode = Long.toString(open.stat().inode());
        return lines().anyMatch(words -> words[TABLE_INODE].equals(inode) && !words[TABLE_DUMP].equals("0"));
    }

    /** All netlink sockets here. Columns: sk, Eth, Pid, Groups, Rmem, Wmem, Dump, Locks, Drops, Inode. */
    private static Stream<String[]> lines() {
        return Proc.text("/proc/" + NetworkCalls.process() + "/net/netlink").lines().skip(1)
                .map(line -> line.strip().split("\\s+")).filter(words -> words.length > TABLE_INODE);
    }

    /** A set of bits, in ints; group 1 is the first. */
    private static int[] groups(int socket) {
        MemorySegment data = Scratch.data();
        data.asSlice(0, GROUP_BYTES).fill((byte) 0);
        data.set(JAVA_INT, LENGTH, GROUP_BYTES);
        LinuxError.check(Syscall.call(Syscall.GETSOCKOPT, socket, PacketOptions.SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS,
                data.address(), data.address() + LENGTH),
                "groups of a netlink socket");
        return java.util.stream.IntStream.range(0, 8 * GROUP_BYTES)
                .filter(bit -> (data.get(JAVA_INT, bit / 32 * 4) >>> bit % 32 & 1) != 0)
                .map(bit -> bit + 1)
                .toArray();
    }
}
