package org.udckpt.job.hosts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Hosts on one machine: network namespaces behind a bridge that is in a namespace of its own, so that nothing is seen or changed outside.
 * Needs root. Names hold this process's pid; what a process left that is dead is removed by the next lab.
 *
 * <p>Host {@code h} has the address {@code NET.0.h} and all of {@code NET.h.0/24}, the addresses of its LIDs on the soft fabric with
 * {@code UDCKPT_SOFT_NET=NET} (docs/hosts.md).
 */
public final class HostLab implements AutoCloseable {
    /** The first two bytes of all addresses: for UDCKPT_SOFT_NET. */
    public static final String NET = "10.77";
    private static final String PREFIX = "udckpt-lab-";
    private static final AtomicInteger LABS = new AtomicInteger();
    private static final int HOSTS = 100;

    private final String name = PREFIX + ProcessHandle.current().pid() + "-" + LABS.incrementAndGet();
    private final List<Host> hosts = new ArrayList<>();

    /** @param directory under which each host gets one of its own */
    public HostLab(int count, Path directory) throws IOException {
        if (count < 1 || count > HOSTS) {
            throw new IllegalArgumentException(count + " hosts");
        }
        removeOldOnes();
        try {
            Ip.run("ip", "netns", "add", cables());
            bridge(0);
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
        Ip.run("ip", "-n", host.namespace(), "link", "add", "eth0", "type", "veth", "peer", "name", port(number), "netns", cables());
        Ip.run("ip", "-n", cables(), "link", "set", port(number), "master", "br0", "up");
        Ip.run("ip", "-n", host.namespace(), "address", "add", host.address() + "/16", "dev", "eth0");
        Ip.run("ip", "-n", host.namespace(), "link", "set", "lo", "up");
        Ip.run("ip", "-n", host.namespace(), "link", "set", "eth0", "up");
        // All of the LIDs' addresses are this host's, without naming each: it binds them and answers ARP for them.
        Ip.run("ip", "-n", host.namespace(), "route", "add", "local", NET + "." + number + ".0/24", "dev", "lo");
        return host;
    }

    private void bridge(int number) {
        Ip.run("ip", "-n", cables(), "link", "add", "br" + number, "type", "bridge");
        Ip.run("ip", "-n", cables(), "link", "set", "br" + number, "up");
    }

    /** Cuts the network in two: these hosts reach each other, and the others each other. */
    public void partition(Set<Integer> numbers) {
        bridge(1);
        numbers.forEach(number -> Ip.run("ip", "-n", cables(), "link", "set", port(number), "master", "br1"));
    }

    /** Undoes {@link #partition}. */
    public void heal() {
        hosts.forEach(host -> Ip.run("ip", "-n", cables(), "link", "set", port(host.number()), "master", "br0"));
        Ip.run("ip", "-n", cables(), "link", "delete", "br1");
    }

    /**
     * What a host sends is late or lost, as tc-netem(8) says.
     *
     * @param how such as {@code "delay", "10ms", "loss", "1%"}
     * @return why not: kernels may be without it; empty: it is done
     */
    public Optional<String> impair(Host host, String... how) {
        List<String> command = new ArrayList<>(List.of("tc", "-n", host.namespace(), "qdisc", "replace", "dev", "eth0", "root", "netem"));
        command.addAll(List.of(how));
        try {
            Ip.run(command.toArray(String[]::new));
            return Optional.empty();
        } catch (IllegalStateException e) {
            if (e.getMessage().contains("qdisc kind is unknown")) {
                return Optional.of("this kernel has no netem (sch_netem)");
            }
            throw e;
        }
    }

    /** The namespace with the bridge and the hosts' other ends. */
    private String cables() {
        return name + "-0";
    }

    private static String port(int number) {
        return "port" + number;
    }

    private static void removeOldOnes() {
        for (String namespace : Ip.namespaces()) {
            if (namespace.startsWith(PREFIX) && !isAlive(namespace.substring(PREFIX.length()).split("-")[0])) {
                Ip.remove(namespace);
            }
        }
    }

    private static boolean isAlive(String pid) {
        return ProcessHandle.of(Long.parseLong(pid)).isPresent();
    }

    /** Ends all processes of the hosts and removes the hosts; their directories stay for whoever looks for what went wrong. */
    @Override
    public void close() {
        Ip.namespaces().stream().filter(namespace -> namespace.startsWith(name + "-")).forEach(Ip::remove);
    }
}
