package org.udckpt.process.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The options of levels IP and IPv6 that every socket of the internet has, with values of an int (ip(7), ipv6(7),
 * linux/in.h, linux/in6.h). Not here: what can be asked and not set, or set and not asked (IPV6_MTU, groups), and what
 * is more than a number (IP_OPTIONS, headers of IPv6). A family that lacks one says so.
 */
final class IpLevel {
    private static final int[] IPV6 = {
            2 /* IPV6_2292PKTINFO */, 3 /* IPV6_2292HOPOPTS */, 4 /* IPV6_2292DSTOPTS */, 5 /* IPV6_2292RTHDR */,
            8 /* IPV6_2292HOPLIMIT */, 11 /* IPV6_FLOWINFO */, 16 /* IPV6_UNICAST_HOPS */, 19 /* IPV6_MULTICAST_LOOP */,
            23 /* IPV6_MTU_DISCOVER */,
            25 /* IPV6_RECVERR */, 29 /* IPV6_MULTICAST_ALL */, 30 /* IPV6_ROUTER_ALERT_ISOLATE */,
            31 /* IPV6_RECVERR_RFC4884 */, 33 /* IPV6_FLOWINFO_SEND */, 49 /* IPV6_RECVPKTINFO */,
            51 /* IPV6_RECVHOPLIMIT */, 53 /* IPV6_RECVHOPOPTS */, 56 /* IPV6_RECVRTHDR */, 58 /* IPV6_RECVDSTOPTS */,
            60 /* IPV6_RECVPATHMTU */, 62 /* IPV6_DONTFRAG */, 66 /* IPV6_RECVTCLASS */, 67 /* IPV6_TCLASS */,
            70 /* IPV6_AUTOFLOWLABEL */, 72 /* IPV6_ADDR_PREFERENCES */, 73 /* IPV6_MINHOPCOUNT */,
            74 /* IPV6_ORIGDSTADDR */, 75 /* IPV6_TRANSPARENT */, 76 /* IPV6_UNICAST_IF */,
            77 /* IPV6_RECVFRAGSIZE */, 78 /* IPV6_FREEBIND */,
    };
    private static final int[] IP = {
            1 /* IP_TOS */, 2 /* IP_TTL */, 6 /* IP_RECVOPTS */, 7 /* IP_RETOPTS */, 8 /* IP_PKTINFO */,
            10 /* IP_MTU_DISCOVER */, 11 /* IP_RECVERR */, 12 /* IP_RECVTTL */, 13 /* IP_RECVTOS */,
            BindOptions.IP_FREEBIND, 18 /* IP_PASSSEC */, BindOptions.IP_TRANSPARENT, 20 /* IP_RECVORIGDSTADDR */,
            21 /* IP_MINTTL */, 23 /* IP_CHECKSUM */, 24 /* IP_BIND_ADDRESS_NO_PORT */, 25 /* IP_RECVFRAGSIZE */,
            26 /* IP_RECVERR_RFC4884 */,
            34 /* IP_MULTICAST_LOOP */, 49 /* IP_MULTICAST_ALL */, 50 /* IP_UNICAST_IF */,
            51 /* IP_LOCAL_PORT_RANGE */,
    };

    /** An accepted TCP connection has what came with it there, which cannot be set. */
    private static final int[][] OF_DATAGRAMS = {
            {TcpOptions.SOL_IPV6, 17 /* IPV6_MULTICAST_IF */}, {TcpOptions.SOL_IPV6, 18 /* IPV6_MULTICAST_HOPS */},
            {TcpOptions.SOL_IP, 32 /* IP_MULTICAST_IF, by its address */}, {TcpOptions.SOL_IP, 33 /* ..._TTL */},
    };

    private IpLevel() {}

    /** As {@link #with}, for sockets without connections. */
    static int[][] ofDatagrams(int[]... own) {
        List<int[]> all = new ArrayList<>(List.of(own));
        all.addAll(List.of(OF_DATAGRAMS));
        return with(all.toArray(int[][]::new));
    }

    /** The options of a protocol, those of IP and IPv6 and those of all sockets, each once. */
    static int[][] with(int[]... own) {
        List<int[]> all = new ArrayList<>(List.of(own));
        add(all, TcpOptions.SOL_IPV6, IPV6);
        add(all, TcpOptions.SOL_IP, IP);
        return SocketLevel.with(all.toArray(int[][]::new));
    }

    private static void add(List<int[]> all, int level, int[] names) {
        Arrays.stream(names)
                .filter(name -> all.stream().noneMatch(option -> option[0] == level && option[1] == name))
                .forEach(name -> all.add(new int[]{level, name}));
    }
}
