package org.udckpt.process.kinds.namespace;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.NetworkSysctls;
import org.udckpt.linux.Proc;
import org.udckpt.linux.RouteMessages;
import org.udckpt.linux.User;

/**
 * How a network namespace is set up: its devices, addresses, routes, rules (rtnetlink(7)) and sysctls.
 *
 * @param sysctls by path below /proc/sys
 * @param flags of the loopback device
 * @param mtu of the loopback device, in bytes
 * @param addresses of the loopback device: messages without what changes by itself
 * @param rest all that there is, by what it is called, in a form that is equal where it is the same
 */
record NetworkState(SortedMap<String, String> sysctls, int flags, int mtu, List<byte[]> addresses,
        SortedMap<String, String> rest) {
    /** The loopback device's number in each namespace (LOOPBACK_IFINDEX). */
    static final int LOOPBACK = 1;
    /** IFF_UP, _DEBUG, _NOARP, _PROMISC and _ALLMULTI: what can be set. */
    static final int SETTABLE = 0x1 | 0x4 | 0x80 | 0x100 | 0x200;
    /** Bytes of struct ifinfomsg, ifaddrmsg, rtmsg, ndmsg, tcmsg, fib_rule_hdr. */
    static final int LINK = 16, ADDRESS = 8;
    static final int IFLA_MTU = 4;
    private static final int ROUTE = 12, NEIGHBOUR = 12, QUEUE = 20, RULE = 12, NETFILTER = 4;
    private static final int RTM_GETLINK = 18, RTM_GETADDR = 22, RTM_GETROUTE = 26, RTM_GETNEIGH = 30,
            RTM_GETRULE = 34, RTM_GETQDISC = 38, NFT_GETTABLE = 10 << 8 | 1;
    private static final int IFLA_ADDRESS = 1, IFLA_IFNAME = 3, IFLA_TXQLEN = 13, IFLA_IFALIAS = 20, IFLA_XDP = 43;
    private static final int IFA_ADDRESS = 1, IFA_LOCAL = 2, IFA_CACHEINFO = 6, IFA_F_PERMANENT = 0x80;
    private static final int RTA_DST = 1, RTA_CACHEINFO = 12, RTM_F_CLONED = 0x200, NUD_PERMANENT = 0x80;
    private static final int NFTA_TABLE_NAME = 1;
    private static final String DEVICE = "network device ";
    private static final List<String> TABLES = List.of("ip_tables_names", "ip6_tables_names", "arp_tables_names");

    /** Looks at the namespace that {@code in} is in. */
    static NetworkState read(NetworkCalls in) {
        SortedMap<String, String> rest = new TreeMap<>();
        int[] loopback = new int[2];
        List<byte[]> addresses = new ArrayList<>();
        NetworkCalls.in(in, () -> {
            try (RouteMessages route = new RouteMessages(RouteMessages.NETLINK_ROUTE)) {
                links(route, rest, loopback);
                addresses.addAll(addresses(route, rest));
                routes(route, rest);
                queues(route, rest);
            }
            tables(in, rest);
        });
        return new NetworkState(new NetworkSysctls(in).all(), loopback[0], loopback[1], addresses, rest);
    }

    /** A device that a new namespace has not; null: there is none. */
    String device(NetworkState fresh) {
        return rest.keySet().stream().filter(one -> one.startsWith(DEVICE) && !fresh.rest.containsKey(one)).findFirst()
                .orElse(null);
    }

    /** The first thing that one of two has, or has otherwise; null: they are the same. */
    String difference(NetworkState other) {
        SortedMap<String, String> all = new TreeMap<>(rest);
        other.rest.forEach(all::putIfAbsent);
        for (String one : all.keySet()) {
            String name = one.replaceAll(" \\(.*", "");
            if (!rest.containsKey(one) || !other.rest.containsKey(one)) {
                return (rest.containsKey(one) ? "" : "the lack of ") + name;
            }
            if (!rest.get(one).equals(other.rest.get(one))) {
                return "the settings of " + name;
            }
        }
        return null;
    }

    private static void links(RouteMessages route, SortedMap<String, String> rest, int[] loopback) {
        for (byte[] one : route.dump(RTM_GETLINK, new byte[LINK])) {
            ByteBuffer info = RouteMessages.buffer(one);
            Map<Integer, byte[]> attributes = RouteMessages.attributes(one, LINK);
            int flags = info.getInt(8) & SETTABLE;
            if (info.getInt(4) == LOOPBACK) {
                loopback[0] = flags;
                loopback[1] = RouteMessages.buffer(attributes.get(IFLA_MTU)).getInt();
            }
            StringBuilder settings = new StringBuilder(Integer.toHexString(flags));
            for (int number : new int[]{IFLA_ADDRESS, IFLA_MTU, IFLA_TXQLEN, IFLA_IFALIAS, IFLA_XDP}) {
                settings.append(' ').append(hex(attributes.getOrDefault(number, new byte[0])));
            }
            rest.put(DEVICE + text(attributes.get(IFLA_IFNAME)), settings.toString());
        }
    }

    /** As {@link #addresses()}. */
    static List<byte[]> loopbackAddresses(RouteMessages route) {
        return addresses(route, new TreeMap<>());
    }

    private static List<byte[]> addresses(RouteMessages route, SortedMap<String, String> rest) {
        List<byte[]> addresses = new ArrayList<>();
        for (byte[] one : route.dump(RTM_GETADDR, new byte[ADDRESS])) {
            Map<Integer, byte[]> attributes = RouteMessages.attributes(one, ADDRESS);
            attributes.remove(IFA_CACHEINFO);
            byte[] lasting = RouteMessages.message(Arrays.copyOf(one, ADDRESS), attributes);
            int device = RouteMessages.buffer(one).getInt(4);
            boolean forEver = (one[2] & IFA_F_PERMANENT) != 0;
            if (device == LOOPBACK && forEver) {
                addresses.add(lasting);
            }
            rest.put((forEver ? "" : "for some time only, ") + "network address "
                    + address(attributes.getOrDefault(IFA_LOCAL, attributes.get(IFA_ADDRESS))) + "/" + one[1]
                    + " of device " + device, forEver ? hex(lasting) : Long.toString(System.nanoTime()));
        }
        return addresses;
    }

    private static void routes(RouteMessages route, SortedMap<String, String> rest) {
        for (byte[] one : route.dump(RTM_GETROUTE, new byte[ROUTE])) {
            if ((RouteMessages.buffer(one).getInt(8) & RTM_F_CLONED) == 0) {
                Map<Integer, byte[]> attributes = RouteMessages.attributes(one, ROUTE);
                attributes.remove(RTA_CACHEINFO);
                byte[] to = attributes.get(RTA_DST);
                String lasting = hex(RouteMessages.message(Arrays.copyOf(one, ROUTE), attributes));
                rest.put("route to " + (to == null ? "everywhere" : address(to) + "/" + one[1]) + " (" + lasting + ")",
                        "");
            }
        }
        for (byte[] one : route.dump(RTM_GETRULE, new byte[RULE])) {
            rest.put("routing rule (" + hex(one) + ")", "");
        }
        for (byte[] one : route.dump(RTM_GETNEIGH, new byte[NEIGHBOUR])) {
            if ((RouteMessages.buffer(one).getShort(8) & NUD_PERMANENT) != 0) {
                rest.put("neighbour "
                        + address(RouteMessages.attributes(one, NEIGHBOUR).getOrDefault(RTA_DST, new byte[0])), "");
            }
        }
    }

    /** But those that a device has by itself. */
    private static void queues(RouteMessages route, SortedMap<String, String> rest) {
        for (byte[] one : route.dump(RTM_GETQDISC, new byte[QUEUE])) {
            String kind = text(RouteMessages.attributes(one, QUEUE).get(1));
            if (!kind.equals("noqueue") && !kind.equals("noop")) {
                rest.put("queueing discipline " + kind + " of device " + RouteMessages.buffer(one).getInt(4), "");
            }
        }
    }

    /** Of nft(8) and iptables(8). */
    private static void tables(NetworkCalls in, SortedMap<String, String> rest) {
        try (RouteMessages netfilter = new RouteMessages(RouteMessages.NETLINK_NETFILTER)) {
            for (byte[] one : netfilter.dump(NFT_GETTABLE, new byte[NETFILTER])) {
                rest.put("table of nftables " + text(RouteMessages.attributes(one, NETFILTER).get(NFTA_TABLE_NAME)),
                        "");
            }
        } catch (LinuxError e) {
            if (e.errno() != LinuxError.EPROTONOSUPPORT && e.errno() != LinuxError.EINVAL
                    && e.errno() != LinuxError.EOPNOTSUPP) { // this kernel has none
                throw e;
            }
        }
        for (String file : TABLES) {
            names(in, file).lines().forEach(name -> rest.put("iptables table " + name, file));
        }
    }

    /**
     * The file is root's where the namespace was made before its user namespace had numbers for users (xt_proto_init,
     * net/netfilter/x_tables.c): then only root sees such tables.
     */
    private static String names(NetworkCalls in, String file) {
        try {
            return in.textOf("/proc/" + in.pid() + "/net/" + file);
        } catch (LinuxError e) {
            if (e.errno() != LinuxError.EACCES) {
                throw e;
            }
            return User.id() == 0 ? Proc.text("/proc/" + in.pid() + "/net/" + file) : "";
        }
    }

    private static String text(byte[] value) {
        return new String(value, StandardCharsets.UTF_8).replaceAll("\0.*", "");
    }

    private static String hex(byte[] value) {
        return HexFormat.of().formatHex(value);
    }

    private static String address(byte[] value) {
        try {
            return java.net.InetAddress.getByAddress(value).getHostAddress();
        } catch (java.net.UnknownHostException e) { // of another family
            return hex(value);
        }
    }
}
