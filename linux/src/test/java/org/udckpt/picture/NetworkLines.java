package org.udckpt.picture;

import java.util.HashMap;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.NetworkSysctls;
import org.udckpt.linux.Proc;

/** The network namespaces of a tree of processes that are others than this process's: their settings and tables. */
final class NetworkLines implements AutoCloseable {
    private final Map<String, NetworkCalls> networks = new HashMap<>();
    private final Map<Long, NetworkCalls> byCookie = new HashMap<>();

    /** That of a process, if it was not seen before. */
    void add(Picture picture, int pid) {
        String link = Files.readLink("/proc/" + Proc.living(pid) + "/ns/net");
        if (Pids.zombie(pid) || link == null || link.equals(Files.readLink("/proc/self/ns/net"))
                || networks.containsKey(link)) {
            return;
        }
        NetworkCalls in = NetworkCalls.of(Proc.living(pid));
        networks.put(link, in);
        NetworkCalls.in(in, () -> byCookie.put(NetworkCalls.cookie(), in));
        String about = "network of " + picture.pids().name(pid);
        new NetworkSysctls(in).all().forEach((path, value) -> picture.add(about + " " + path, value));
        for (String table : new String[]{"route", "if_inet6", "ipv6_route"}) {
            in.textOf("/proc/self/net/" + table).lines().sorted()
                    .forEach(line -> picture.add(about + " " + table, line));
        }
    }

    /** Runs what looks at a socket in the namespace to which it belongs, if that is one of these. */
    void in(int socket, Runnable look) {
        NetworkCalls.in(byCookie.get(NetworkCalls.cookie(socket)), look);
    }

    @Override
    public void close() {
        networks.values().forEach(NetworkCalls::close);
    }
}
