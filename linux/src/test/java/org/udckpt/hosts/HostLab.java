package org.udckpt.hosts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Hosts on one machine: network namespaces behind a bridge that is in a namespace of its own, so that nothing is seen
 * or changed outside. Needs root. Names hold this process's pid; what a process left that is dead is removed by the
 * next lab.
 *
 * <p>Host {@code h} has the address {@code NET.0.h} and all of {@code NET.h.0/24}, the addresses of its LIDs on the
 * soft fabric with {@code UDCKPT_SOFT_NET=NET} (docs/operator/networks.md).
 */
public final class HostLab implements AutoCloseable {
    /** The first two bytes of all addresses: for UDCKPT_SOFT_NET. */
    public static final String NET = "10.77";
    private static final String PREFIX = "udckpt-lab-";
    private static final AtomicInteger LABS = new AtomicInteger();
    private static final int HOSTS = 100;

    private final String name = PREFIX + ProcessHandle.current().pid() + "-" + LABS.incrementAndGet();
    private final List<Host> hosts = new ArrayList<>();
    private final List<Cable> cables = new ArrayList<>();

    /** @param directory under which each host gets one of its own */
    public HostLab(int count, Path directory) throws IOException {
        if (count < 1 || count > HOSTS) {
            throw new IllegalArgumentException(count + " hosts");
        }
        removeOldOnes();
        try {
            Ip.run("ip", "netns", "add", hub());
            addBridge(0);
            for (int number = 1; number <= count; number++) {
                hosts.add(add(number, Files.createDirectories(directory.resolve("host" + number))));
            }
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Why there can be no lab here; empty: there can. */
    public static Optional<String> missing() {
        try {
            if ((int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") != 0) {
                return Optional.of("network namespaces of hosts need root");
            }
            Ip.run("ip", "-V");
            return Optional.empty();
        } catch (IOException | RuntimeException e) {
            return Optional.of("network namespaces of hosts need iproute2: " + e.getMessage());
        }
    }

    /** From host 1 on. */
    public List<Host> hosts() {
        return List.copyOf(hosts);
    }

    public Host host(int number) {
        return hosts.get(number - 1);
    }

    private Host add(int number, Path directory) {
        Host host = new Host(number, name + "-" + number, NET + ".0." + number, 256 * number, directory);
        Ip.run("ip", "netns", "add", host.namespace());
        cables.add(new Cable(hub(), host, bridge(0)));
        Ip.run("ip", "-n", host.namespace(), "address", "add", host.address() + "/16", "dev", "eth0");
        Ip.run("ip", "-n", host.namespace(), "link", "set", "lo", "up");
        Ip.run("ip", "-n", host.namespace(), "link", "set", "eth0", "up");
        // All of the LIDs' addresses are this host's, without naming each: it binds them and answers ARP for them.
        Ip.run("ip", "-n", host.namespace(), "route", "add", "local", NET + "." + number + ".0/24", "dev", "lo");
        return host;
    }

    private static String bridge(int number) {
        return "br" + number;
    }

    private void addBridge(int number) {
        Ip.run("ip", "-n", hub(), "link", "add", bridge(number), "type", "bridge");
        Ip.run("ip", "-n", hub(), "link", "set", bridge(number), "up");
    }

    /** Cuts the network in two: these hosts reach each other, and the others each other. */
    public void partition(Set<Integer> numbers) {
        addBridge(1);
        numbers.forEach(number -> cable(number).plugInto(bridge(1)));
    }

    /** None of these hosts reaches another of them; all others do. */
    public void isolate(Set<Integer> numbers) {
        numbers.forEach(number -> cable(number).isolate(true));
    }

    /** Undoes {@link #partition} and {@link #isolate}. */
    public void heal() {
        for (Cable cable : cables) {
            cable.plugInto(bridge(0));
            cable.isolate(false);
        }
        if (Ip.run("ip", "-n", hub(), "-br", "link", "show", "type", "bridge").contains(bridge(1))) {
            Ip.run("ip", "-n", hub(), "link", "delete", bridge(1));
        }
    }

    /**
     * What a host sends and what is sent to it is in trouble, in place of what was before; those that it talks to by
     * itself (loopback) are not.
     */
    public void trouble(Host host, Trouble trouble) {
        cable(host.number()).trouble(trouble, host.number());
    }

    /** Undoes {@link #trouble} of all hosts. */
    public void calm() {
        cables.forEach(Cable::mend);
    }

    private Cable cable(int number) {
        return cables.get(number - 1);
    }

    /** The namespace with the bridge and the hosts' other ends. */
    private String hub() {
        return name + "-0";
    }

    private static void removeOldOnes() {
        for (String namespace : Ip.namespaces()) {
            if (namespace.startsWith(PREFIX) && !isAlive(namespace.substring(PREFIX.length()).split("-")[0])) {
                try {
                    Ip.remove(namespace);
                } catch (IllegalStateException e) {
                    if (Ip.namespaces().contains(namespace)) { // else another lab has removed it
                        throw e;
                    }
                }
            }
        }
    }

    private static boolean isAlive(String pid) {
        return ProcessHandle.of(Long.parseLong(pid)).isPresent();
    }

    /**
     * Ends all processes of the hosts and removes the hosts; their directories stay for whoever looks for what went
     * wrong.
     */
    @Override
    public void close() {
        Ip.namespaces().stream().filter(namespace -> namespace.startsWith(name + "-")).forEach(Ip::remove);
    }
}
