package org.udckpt.process.model;

/**
 * The options of {@link PacketSocket}s whose values are an int and are carried over: {level, name}, in the order in
 * which they are set.
 */
public final class PacketOptions {
    public static final int SOL_UDP = 17, SOL_UDPLITE = 136, SOL_RAW = 255, SOL_NETLINK = 270, SOL_PACKET = 263,
            UDP_CORK = 1,
            UDP_ENCAP = 100;

    /** udp(7), ip(7), ipv6(7), socket(7). All are set before the socket is bound. */
    public static final int[][] UDP = IpLevel.ofDatagrams(new int[][]{
            {TcpOptions.SOL_IPV6, TcpOptions.IPV6_V6ONLY},
            {TcpOptions.SOL_IP, 1 /* IP_TOS, which sets SO_PRIORITY, too */},
            {TcpOptions.SOL_SOCKET, TcpOptions.SO_REUSEADDR}, {TcpOptions.SOL_SOCKET, TcpOptions.SO_REUSEPORT},
            {TcpOptions.SOL_SOCKET, 5 /* SO_DONTROUTE */},
            {TcpOptions.SOL_SOCKET, 6 /* SO_BROADCAST */}, {TcpOptions.SOL_SOCKET, 11 /* SO_NO_CHECK */},
            {TcpOptions.SOL_SOCKET, 12 /* SO_PRIORITY */},
            {TcpOptions.SOL_SOCKET, 29 /* SO_TIMESTAMP */}, {TcpOptions.SOL_SOCKET, 35 /* SO_TIMESTAMPNS */},
            {TcpOptions.SOL_SOCKET, 36 /* SO_MARK */},
            {TcpOptions.SOL_SOCKET, 37 /* SO_TIMESTAMPING */}, {TcpOptions.SOL_SOCKET, 40 /* SO_RXQ_OVFL */},
            {TcpOptions.SOL_SOCKET, 46 /* SO_BUSY_POLL */},
            {TcpOptions.SOL_SOCKET, 60 /* SO_ZEROCOPY */},
            {SOL_UDP, 101 /* UDP_NO_CHECK6_TX */}, {SOL_UDP, 102 /* UDP_NO_CHECK6_RX */},
            {SOL_UDP, 103 /* UDP_SEGMENT */}, {SOL_UDP, 104 /* UDP_GRO */},
            {SOL_UDPLITE, 10 /* UDPLITE_SEND_CSCOV */}, {SOL_UDPLITE, 11 /* UDPLITE_RECV_CSCOV */},
    });

    /** raw(7), icmp(7): as {@link #UDP}. */
    public static final int[][] RAW = IpLevel.ofDatagrams(new int[][]{
            {TcpOptions.SOL_IP, 1 /* IP_TOS */}, {TcpOptions.SOL_IP, 3 /* IP_HDRINCL */},
            {TcpOptions.SOL_IP, 5 /* IP_ROUTER_ALERT */}, {TcpOptions.SOL_IP, 22 /* IP_NODEFRAG */},
            {SOL_RAW, 1 /* ICMP_FILTER */}, {SOL_RAW, 7 /* IPV6_CHECKSUM */},
            {TcpOptions.SOL_IPV6, 36 /* IPV6_HDRINCL */},
            {TcpOptions.SOL_SOCKET, 12 /* SO_PRIORITY */},
    });

    /** netlink(7), socket(7). */
    public static final int[][] NETLINK = SocketLevel.with(new int[][]{
            {SOL_NETLINK, 3 /* NETLINK_PKTINFO */}, {SOL_NETLINK, 4 /* NETLINK_BROADCAST_ERROR */},
            {SOL_NETLINK, 5 /* NETLINK_NO_ENOBUFS */},
            {SOL_NETLINK, 10 /* NETLINK_CAP_ACK */}, {SOL_NETLINK, 11 /* NETLINK_EXT_ACK */},
            {SOL_NETLINK, 12 /* NETLINK_GET_STRICT_CHK */},
            {TcpOptions.SOL_SOCKET, 16 /* SO_PASSCRED */}, {TcpOptions.SOL_SOCKET, 29 /* SO_TIMESTAMP */},
    }, 34 /* SO_PASSSEC */);

    /** packet(7), socket(7). All are set before the socket has rings. */
    public static final int[][] PACKET = SocketLevel.with(new int[][]{
            {SOL_PACKET, 7 /* PACKET_COPY_THRESH */}, {SOL_PACKET, 8 /* PACKET_AUXDATA */},
            {SOL_PACKET, 9 /* PACKET_ORIGDEV */}, {SOL_PACKET, 10 /* PACKET_VERSION */},
            {SOL_PACKET, 12 /* PACKET_RESERVE */}, {SOL_PACKET, 14 /* PACKET_LOSS */},
            {SOL_PACKET, 15 /* PACKET_VNET_HDR */}, {SOL_PACKET, 17 /* PACKET_TIMESTAMP */},
            {SOL_PACKET, 19 /* PACKET_TX_HAS_OFF */}, {SOL_PACKET, 20 /* PACKET_QDISC_BYPASS */},
            {SOL_PACKET, 23 /* PACKET_IGNORE_OUTGOING */}, {SOL_PACKET, 24 /* PACKET_VNET_HDR_SZ */},
    });

    private PacketOptions() {}
}
