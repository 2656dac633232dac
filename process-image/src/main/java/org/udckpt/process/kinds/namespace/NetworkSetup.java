package org.udckpt.process.kinds.namespace;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.NetworkSysctls;
import org.udckpt.linux.RouteMessages;
import org.udckpt.process.model.NetworkNamespace;

/**
 * Sets up a new network namespace as a record says. The capture does so, too, to see whether the result is what the job
 * has.
 */
final class NetworkSetup {
    private static final int RTM_NEWLINK = 16, RTM_NEWADDR = 20, RTM_DELADDR = 21;
    private static final int NLM_F_CREATE = 0x400, NLM_F_EXCL = 0x200, LENGTH = Integer.BYTES;
    /** What sets other settings comes first: these reset or set those of all devices (ip-sysctl.rst). */
    private static final List<String> FIRST = List.of("net/ipv4/ip_forward", "net/ipv4/conf/all/", "net/ipv6/conf/all/",
            "net/ipv4/conf/default/", "net/ipv6/conf/default/");

    private NetworkSetup() {}

    /** The record of a namespace, but for ids: what is not as in a new one. */
    static NetworkNamespace record(NetworkState state, NetworkState usual) {
        ByteBuffer addresses = RouteMessages.buffer(
                new byte[state.addresses().stream().mapToInt(one -> LENGTH + one.length).sum()]);
        state.addresses().forEach(one -> addresses.putInt(one.length).put(one));
        return with(new NetworkNamespace(0, 0, state.flags(), state.mtu(), "", addresses.array()), state, usual);
    }

    /** The record with those settings, too, that another namespace has otherwise. */
    static NetworkNamespace with(NetworkNamespace record, NetworkState state, NetworkState other) {
        StringBuilder sysctls = new StringBuilder(record.sysctls());
        Set<String> known = sysctls(record).keySet();
        state.sysctls().forEach((path, value) -> {
            if (!known.contains(path) && !value.contains("\n") && !value.equals(other.sysctls().get(path))) {
                sysctls.append(path).append('=').append(value).append('\n');
            }
        });
        return new NetworkNamespace(record.id(), record.userOwner(), record.deviceFlags(), record.mtu(),
                sysctls.toString(), record.addresses());
    }

    /**
     * Sets up the namespace that {@code in} is in.
     *
     * @throws LinuxError naming what cannot be set here
     */
    static void apply(NetworkCalls in, NetworkNamespace wanted) {
        NetworkCalls.in(in, () -> {
            try (RouteMessages route = new RouteMessages(RouteMessages.NETLINK_ROUTE)) {
                device(route, wanted);
            }
        });
        NetworkSysctls sysctls = new NetworkSysctls(in);
        SortedMap<String, String> values = sysctls(wanted);
        // one may allow another one only when that is set (ip_local_port_range, ip_unprivileged_port_start)
        for (boolean last : new boolean[]{false, true}) {
            for (Map.Entry<String, String> one : values.entrySet()) {
                set(sysctls, one.getKey(), one.getValue(), last);
            }
        }
        NetworkCalls.in(in, () -> {
            try (RouteMessages route = new RouteMessages(RouteMessages.NETLINK_ROUTE)) {
                addresses(route, NetworkState.loopbackAddresses(route), addresses(wanted));
            }
        });
    }

    private static void set(NetworkSysctls sysctls, String path, String value, boolean last) {
        if (value.equals(sysctls.value(path))) {
            return;
        }
        try {
            sysctls.set(path, value);
        } catch (LinuxError e) {
            if (last) {
                throw e;
            }
        }
    }

    private static void device(RouteMessages route, NetworkNamespace wanted) {
        byte[] info = new byte[NetworkState.LINK];
        RouteMessages.buffer(info).putInt(4, NetworkState.LOOPBACK).putInt(8, wanted.deviceFlags())
                .putInt(12, NetworkState.SETTABLE);
        byte[] mtu = RouteMessages.buffer(new byte[Integer.BYTES]).putInt(wanted.mtu()).array();
        route.change(RTM_NEWLINK, 0, RouteMessages.message(info, new TreeMap<>(Map.of(NetworkState.IFLA_MTU, mtu))));
    }

    private static void addresses(RouteMessages route, List<byte[]> now, List<byte[]> wanted) {
        now.stream().filter(one -> !has(wanted, one)).forEach(one -> route.change(RTM_DELADDR, 0, one));
        wanted.stream().filter(one -> !has(now, one))
                .forEach(one -> route.change(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, one));
    }

    private static boolean has(List<byte[]> all, byte[] one) {
        return all.stream().anyMatch(other -> Arrays.equals(other, one));
    }

    /** In the order in which they are set. */
    static SortedMap<String, String> sysctls(NetworkNamespace namespace) {
        SortedMap<String, String> values = new TreeMap<>(
                Comparator.comparingInt(NetworkSetup::order).thenComparing(Comparator.naturalOrder()));
        namespace.sysctls().lines().forEach(line -> {
            int equals = line.indexOf('=');
            values.put(line.substring(0, equals), line.substring(equals + 1));
        });
        return values;
    }

    private static int order(String path) {
        for (int i = 0; i < FIRST.size(); i++) {
            if (path.startsWith(FIRST.get(i))) {
                return i;
            }
        }
        return FIRST.size();
    }

    /** @throws IllegalArgumentException the record is broken */
    static List<byte[]> addresses(NetworkNamespace namespace) {
        ByteBuffer all = RouteMessages.buffer(namespace.addresses());
        List<byte[]> addresses = new ArrayList<>();
        while (all.hasRemaining()) {
            if (all.remaining() < LENGTH) {
                throw new IllegalArgumentException("addresses end too early");
            }
            int length = all.getInt();
            if (length < NetworkState.ADDRESS || length > all.remaining()) {
                throw new IllegalArgumentException("an address of " + length + " bytes");
            }
            byte[] one = new byte[length];
            all.get(one);
            addresses.add(one);
        }
        return addresses;
    }

    /** The first thing that is not as it is to be; null: all is. */
    static String difference(NetworkState wanted, NetworkState made) {
        SortedMap<String, String> sysctls = wanted.sysctls();
        TreeSet<String> paths = new TreeSet<>(sysctls.keySet());
        paths.addAll(made.sysctls().keySet());
        for (String path : paths) {
            String value = sysctls.get(path);
            if (!Objects.equals(value, made.sysctls().get(path))) {
                return "the setting " + path.replace('/', '.') + " = " + value;
            }
        }
        return wanted.difference(made);
    }
}
