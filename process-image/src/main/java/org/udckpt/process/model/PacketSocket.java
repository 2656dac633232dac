package org.udckpt.process.model;

import java.util.Arrays;

/**
 * A socket without connections: each message stands for itself. Ids are shared with {@link KernelObject}s; a
 * {@link Descriptor} names it by its id. {@code flags} are those of open(2) (F_GETFL).
 */
public sealed interface PacketSocket {
    long id();

    int flags();

    /**
     * Options that differ from a new socket's, three numbers each: level, name, value (setsockopt(2));
     * {@link BindOptions}.
     */
    int[] options();

    /** SO_RCVTIMEO in microseconds, 0: none. */
    long receiveTimeoutUs();

    /** SO_SNDTIMEO. */
    long sendTimeoutUs();

    /** SO_SNDBUF as getsockopt(2) gives it, when the process has chosen it; 0: the kernel's choice. */
    int sendBuffer();

    /** SO_RCVBUF, as {@link #sendBuffer}. */
    int receiveBuffer();

    /**
     * udp(7), udplite(7).
     *
     * @param domain AF_INET 2, AF_INET6 10
     * @param local its address (struct sockaddr_in, sockaddr_in6); port 0: not bound
     * @param remote as set by connect(2); empty: none
     * @param queued datagrams that were not read, joined
     * @param lengths of the datagrams
     * @param senders of the datagrams, an address each, joined
     * @param device SO_BINDTODEVICE, or empty
     */
    record UdpSocket(long id, int flags, int domain, byte[] local, byte[] remote, byte[] queued, int[] lengths,
            byte[] senders, int[] options,
            long receiveTimeoutUs, long sendTimeoutUs, int sendBuffer, int receiveBuffer,
            String device) implements PacketSocket {
        /** Bytes of one address. */
        public static int addressBytes(int domain) {
            return domain == 2 ? 16 : 28;
        }

        /** IPPROTO_UDP, or what its options have of it: IPPROTO_UDPLITE. */
        public int protocol() {
            return SocketLevel.protocol(options, PacketOptions.SOL_UDP);
        }

        /** Whether the two, or it is the same, are bound to one address with SO_REUSEPORT. */
        public boolean sharesPort(UdpSocket other) {
            return protocol() == other.protocol() && domain == other.domain && Arrays.equals(local, other.local)
                    && device.equals(other.device)
                    && reusesPort() && other.reusesPort();
        }

        private boolean reusesPort() {
            return BindOptions.had(options, TcpOptions.SOL_SOCKET, TcpOptions.SO_REUSEPORT);
        }
    }

    /**
     * netlink(7), with an empty queue.
     *
     * @param type SOCK_RAW 3, SOCK_DGRAM 2
     * @param protocol the family: NETLINK_ROUTE 0, ...
     * @param port nl_pid of its address; 0: not bound
     * @param groups multicast groups in which it is
     */
    record NetlinkSocket(long id, int flags, int type, int protocol, int port, int[] groups, int[] options,
            long receiveTimeoutUs, long sendTimeoutUs,
            int sendBuffer, int receiveBuffer) implements PacketSocket {}

    /**
     * raw(7), and ping sockets (icmp(7)).
     *
     * @param type SOCK_RAW 3, SOCK_DGRAM 2 of a ping socket
     * @param domain as of a {@link UdpSocket}, which {@code local} and {@code remote} are as well; the port of a
     *        ping socket is the identifier of its pings
     * @param unread whether there were packets that it had not read, which come from the network alone
     */
    record RawSocket(long id, int flags, int domain, int type, int protocol, byte[] local, byte[] remote, int[] options,
            long receiveTimeoutUs, long sendTimeoutUs, int sendBuffer, int receiveBuffer, String device,
            boolean unread) implements PacketSocket {}

    /**
     * packet(7).
     *
     * @param type SOCK_RAW 3, SOCK_DGRAM 2, SOCK_PACKET 10
     * @param protocol ETH_P_*, in this machine's order of bytes; 0: it hears nothing
     * @param device to which it is bound; empty: to all
     * @param receiveRing PACKET_RX_RING: struct tpacket_req3, or empty; {@code sendRing}: PACKET_TX_RING
     * @param memberships PACKET_ADD_MEMBERSHIP, {@link #MEMBERSHIP} bytes each: device (16), how often (4), type (2),
     *        length (2), address (32)
     * @param fanout PACKET_FANOUT as getsockopt(2) gives it; 0: none
     * @param unread whether there were packets that it had not read, which come from the network alone
     */
    record LinkSocket(long id, int flags, int type, int protocol, String device, int[] options, long receiveTimeoutUs,
            long sendTimeoutUs, int sendBuffer, int receiveBuffer, int[] receiveRing, int[] sendRing,
            byte[] memberships, int fanout, boolean unread) implements PacketSocket {
        /** Bytes of a membership, and of the name of a device (IFNAMSIZ). */
        public static final int MEMBERSHIP = 56, DEVICE = 16;
        /** Numbers of a struct tpacket_req3. */
        public static final int RING = 7;
    }
}
