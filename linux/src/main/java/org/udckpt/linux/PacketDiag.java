package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.udckpt.linux.LinuxConstants.AF_NETLINK;
import static org.udckpt.linux.LinuxConstants.AF_PACKET;
import static org.udckpt.linux.LinuxConstants.SOCK_RAW;

import java.lang.foreign.MemorySegment;

/**
 * Asks the kernel about a packet socket of the network namespace of {@link NetworkCalls#in} (sock_diag(7),
 * linux/packet_diag.h).
 */
public final class PacketDiag {
    /**
     * @param protocol as socket(2) or bind(2) was given it, in this machine's order of bytes
     * @param device number to which it is bound; 0: to all, -1: to one that is gone
     * @param memberships 44 bytes each (struct packet_diag_mclist): device, how often, type, length, address (32 bytes)
     * @param receiveRing seven numbers (struct packet_diag_ring, which has them as struct tpacket_req3), or empty
     */
    public record Info(int protocol, int device, byte[] memberships, int[] receiveRing, int[] sendRing) {}

    private static final int NETLINK_SOCK_DIAG = 4, SOCK_DIAG_BY_FAMILY = 20, NLMSG_ERROR = 2, NLMSG_DONE = 3;
    private static final int NLM_F_REQUEST = 1, NLM_F_DUMP = 0x300, HEADER = 16, MESSAGE = 16, REQUEST = 36;
    private static final int SHOW_INFO = 1, SHOW_MEMBERSHIPS = 2, SHOW_RINGS = 4;
    private static final int INFO = 0, MEMBERSHIPS = 1, RECEIVE_RING = 2, SEND_RING = 3;

    private PacketDiag() {}

    /** The socket with this inode. @throws LinuxError ENOENT: there is none, or this kernel cannot tell */
    public static Info query(long inode) {
        int fd = (int) LinuxError.check(
                NetworkCalls.socket(AF_NETLINK, SOCK_RAW | Syscall.O_CLOEXEC, NETLINK_SOCK_DIAG),
                "socket of NETLINK_SOCK_DIAG");
        try {
            MemorySegment data = Scratch.data();
            data.asSlice(0, REQUEST).fill((byte) 0);
            data.set(JAVA_INT, 0, REQUEST);
            data.set(JAVA_SHORT, 4, (short) SOCK_DIAG_BY_FAMILY);
            data.set(JAVA_SHORT, 6, (short) (NLM_F_REQUEST | NLM_F_DUMP)); // it answers for all, or not at all
            data.set(JAVA_BYTE, HEADER, (byte) AF_PACKET);
            data.set(JAVA_INT, HEADER + 8, SHOW_INFO | SHOW_MEMBERSHIPS | SHOW_RINGS);
            LinuxError.check(Syscall.call(Syscall.SENDTO, fd, data.address(), REQUEST, 0, 0, 0),
                    "question to sock_diag");
            return find(fd, data, (int) inode);
        } finally {
            Files.close(fd);
        }
    }

    private static Info find(int fd, MemorySegment data, int inode) {
        Info found = null;
        while (true) {
            long n = LinuxError.check(
                    Syscall.call(Syscall.RECVFROM, fd, data.address(), Scratch.DATA_BYTES, 0, 0, 0),
                    "answer of sock_diag");
            for (long at = 0; at + HEADER <= n;) {
                int length = data.get(JAVA_INT, at);
                int type = data.get(JAVA_SHORT, at + 4);
                if (type == NLMSG_ERROR) {
                    throw new LinuxError("list of packet sockets", -data.get(JAVA_INT, at + HEADER));
                }
                if (type == NLMSG_DONE) {
                    if (found == null) {
                        throw new LinuxError("packet socket with inode " + inode, LinuxError.ENOENT);
                    }
                    return found;
                }
                if (data.get(JAVA_INT, at + HEADER + 4) == inode) {
                    found = parse(data.asSlice(at, length));
                }
                at += length + 3 & -4;
            }
        }
    }

    private static Info parse(MemorySegment message) {
        int device = 0;
        byte[] memberships = new byte[0];
        int[] receiveRing = new int[0];
        int[] sendRing = new int[0];
        for (long at = HEADER + MESSAGE; at + 4 <= message.byteSize();) {
            int length = message.get(JAVA_SHORT, at) & 0xffff;
            MemorySegment value = message.asSlice(at + 4, length - 4);
            switch (message.get(JAVA_SHORT, at + 2)) {
                case INFO -> device = value.get(JAVA_INT, 0);
                case MEMBERSHIPS -> memberships = value.toArray(JAVA_BYTE);
                case RECEIVE_RING -> receiveRing = value.toArray(JAVA_INT);
                case SEND_RING -> sendRing = value.toArray(JAVA_INT);
                default -> {
                } // attributes that were not asked for
            }
            at += length + 3 & -4;
        }
        return new Info(message.get(JAVA_SHORT, HEADER + 2) & 0xffff, device, memberships, receiveRing, sendRing);
    }
}
