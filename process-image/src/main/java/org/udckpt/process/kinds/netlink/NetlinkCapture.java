package org.udckpt.process.kinds.netlink;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.AF_NETLINK;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.MSG_PEEK;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
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
     * NETLINK_ROUTE, _SOCK_DIAG, _KOBJECT_UEVENT, _RDMA: the kernel keeps nothing for them but what is in {@link
     * NetlinkSocket}.
     */
    private static final Set<Integer> KNOWN = Set.of(0, 4, 15, 20);
    private static final int NETLINK_LIST_MEMBERSHIPS = 9, GROUP_BYTES = 512, LENGTH = 1024;
    private static final int TABLE_DUMP = 6, TABLE_INODE = 9;

    private final ObjectTable table;

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
        table.add(read(open, socket, type.type(), id));
        return id;
    }

    /** @param socket a duplicate of {@code open} */
    private static NetlinkSocket read(OpenDescriptor open, int socket, int type, long id) {
        int protocol = SocketQueue.option(socket, SocketQueue.SO_PROTOCOL);
        if (!KNOWN.contains(protocol)) {
            throw open.refuse(
                    "a netlink socket of family " + protocol + " (netlink(7)) cannot be checkpointed; close it first");
        }
        int port = address(Syscall.GETSOCKNAME, socket);
        if (address(Syscall.GETPEERNAME, socket) != 0) {
            throw open.refuse(
                    "a netlink socket that is connected to another process cannot be checkpointed; close it first");
        }
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

    /** nl_pid of a struct sockaddr_nl. */
    private static int address(int call, int socket) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, 12);
        LinuxError.check(Syscall.call(call, socket, data.address() + 8, data.address()), "name of a netlink socket");
        return data.get(JAVA_INT, 12);
    }

    /**
     * The answer is longer than the queue: the kernel goes on when something was read. Columns: sk, Eth, Pid, Groups,
     * Rmem, Wmem, Dump, Locks, Drops, Inode.
     */
    private static boolean answering(OpenDescriptor open) {
        String inode = Long.toString(open.stat().inode());
        return Proc.text("/proc/" + open.process().pid() + "/net/netlink")
                .lines()
                .map(line -> line.strip().split("\\s+"))
                .anyMatch(words -> words.length > TABLE_INODE && words[TABLE_INODE].equals(inode)
                        && !words[TABLE_DUMP].equals("0"));
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
