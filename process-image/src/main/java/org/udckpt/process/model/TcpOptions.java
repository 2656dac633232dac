package org.udckpt.process.model;

/** The options of TCP sockets whose values are an int and are carried over (socket(7), tcp(7), ip(7), ipv6(7)). */
public final class TcpOptions {
    public static final int SOL_SOCKET = 1, SOL_IP = 0, SOL_TCP = 6, SOL_IPV6 = 41, IPPROTO_MPTCP = 262;
    public static final int SO_REUSEADDR = 2, SO_REUSEPORT = 15, SO_RCVLOWAT = 18, IPV6_V6ONLY = 26;

    /**
     * {level, name}, in the order in which they are set: IP_TOS sets SO_PRIORITY, too. Not here: what has a field of
     * its own in {@link TcpSocket}; what only a connection's moment knows (TCP_QUICKACK); {@link #UNCONNECTED}.
     */
    public static final int[][] CARRIED = IpLevel.with(new int[][]{
            {SOL_IPV6, IPV6_V6ONLY}, {SOL_IP, 1 /* IP_TOS */},
            {SOL_SOCKET, 5 /* SO_DONTROUTE */}, {SOL_SOCKET, 9 /* SO_KEEPALIVE */}, {SOL_SOCKET, 10 /* SO_OOBINLINE */},
            {SOL_SOCKET, 12 /* SO_PRIORITY */}, {SOL_SOCKET, SO_REUSEPORT}, {SOL_SOCKET, SO_RCVLOWAT},
            {SOL_SOCKET, 36 /* SO_MARK */},
            {SOL_SOCKET, 37 /* SO_TIMESTAMPING */}, {SOL_SOCKET, 46 /* SO_BUSY_POLL */},
            {SOL_SOCKET, 47 /* SO_MAX_PACING_RATE */},
            {SOL_SOCKET, 60 /* SO_ZEROCOPY */}, {SOL_SOCKET, SO_REUSEADDR},
            {SOL_TCP, 1 /* TCP_NODELAY */}, {SOL_TCP, 3 /* TCP_CORK */}, {SOL_TCP, 4 /* TCP_KEEPIDLE */},
            {SOL_TCP, 5 /* TCP_KEEPINTVL */},
            {SOL_TCP, 6 /* TCP_KEEPCNT */}, {SOL_TCP, 7 /* TCP_SYNCNT */}, {SOL_TCP, 8 /* TCP_LINGER2 */},
            {SOL_TCP, 9 /* TCP_DEFER_ACCEPT */},
            {SOL_TCP, 16 /* TCP_THIN_LINEAR_TIMEOUTS */}, {SOL_TCP, 18 /* TCP_USER_TIMEOUT */},
            {SOL_TCP, 23 /* TCP_FASTOPEN */}, {SOL_TCP, 25 /* TCP_NOTSENT_LOWAT */}, {SOL_TCP, 27 /* TCP_SAVE_SYN */},
            {SOL_TCP, 36 /* TCP_INQ */}, {SOL_TCP, 37 /* TCP_TX_DELAY */},
            {SOL_TCP, 44 /* TCP_RTO_MAX_MS */}, {SOL_TCP, 45 /* TCP_RTO_MIN_US */},
            {SOL_TCP, 46 /* TCP_DELACK_MAX_US */},
    });

    /** As {@link #CARRIED}: what a socket has been told before it is connected, and what the kernel changes then. */
    public static final int[][] UNCONNECTED = {
            {SOL_TCP, 2 /* TCP_MAXSEG */}, {SOL_TCP, 10 /* TCP_WINDOW_CLAMP */},
            {SOL_TCP, 30 /* TCP_FASTOPEN_CONNECT */}, {SOL_TCP, 34 /* TCP_FASTOPEN_NO_COOKIE */},
    };

    private TcpOptions() {}
}
