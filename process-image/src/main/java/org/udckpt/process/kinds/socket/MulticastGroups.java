package org.udckpt.process.kinds.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TcpAddress;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.model.TcpOptions;

/** Groups of which a socket may be a member (IP_ADD_MEMBERSHIP): what it would no longer hear is refused. */
public final class MulticastGroups {
    private static final int MCAST_MSFILTER = 48, GROUP_FILTER_BYTES = 144, LENGTH = 1024;

    private MulticastGroups() {}

    /** Refuses a member. @param what it is, for the message */
    public static void refuseMember(OpenDescriptor open, int socket, String what) {
        refuseMember(open, socket, what, true);
        refuseMember(open, socket, what, false);
    }

    /**
     * A socket does not tell its multicast groups, but whether it is in a given one; and the network namespace tells
     * all that have members.
     */
    private static void refuseMember(OpenDescriptor open, int socket, String what, boolean ipv4) {
        int device = 0;
        for (String line : Proc.text("/proc/" + open.process().task() + "/net/" + (ipv4 ? "igmp" : "igmp6"))
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
}
