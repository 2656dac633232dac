package org.udckpt.launch;

import java.io.Closeable;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.address.AddressMap;
import org.udckpt.address.HostAddress;
import org.udckpt.address.RankSpan;
import org.udckpt.address.VerbsAddress;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.ud.PortKeeper;

/**
 * The hosts' devices and real addresses for one incarnation of a job.
 *
 * <p>On the soft fabric a LID and a range of QPNs for each simulated host. A real device brings its own; but a RoCE
 * port has no LID, so each device gets a number in the place of one.
 *
 * <p>The address map proposes LIDs that the job does not know; this class takes the first that no other job of the
 * machine has. A LID is held by binding the host's UDP port 65535, which no QPN uses: so two jobs never share one,
 * whoever runs them, and a crash frees it.
 */
public final class HostAddresses implements PortKeeper, AutoCloseable {
    private static final int RESERVING_PORT = 65535;
    private static final String LOOPBACK = "127.";
    /** Numbers for the ports of a host's real devices (virtual_host.c): four devices of four ports. */
    private static final int REAL_PORTS = DeviceChoice.MOST_DEVICES * HostNumbers.PORTS_OF_A_DEVICE;

    private final HostLayout layout;
    private final RankSpan span;
    private final DeviceChoice devices;
    private final String net;
    private final List<HostAddress> hosts = new ArrayList<>();
    private final List<DatagramChannel> reservations = new ArrayList<>();

    private HostAddresses(HostLayout layout, RankSpan span, DeviceChoice devices, String net) {
        this.layout = layout;
        this.span = span;
        this.devices = devices;
        this.net = net;
    }

    /**
     * @param layout of the whole job
     * @param span whose hosts get addresses
     * @param map proposes; knows what the previous incarnation had
     * @param machines where the layout's hosts are, if they have several agents; none: all are here
     * @param ports of a simulated host, over all its devices; a restart gives at least as many as the job had
     * @param net the first octets of the hosts' IP addresses, such as 127.77 (UDCKPT_SOFT_NET)
     */
    public static HostAddresses reserve(HostLayout layout, RankSpan span, DeviceChoice devices, AddressMap map,
            List<String> machines, int ports, String net) {
        HostAddresses addresses = new HostAddresses(layout, span, devices, net);
        if (!devices.soft()) {
            if (machines.isEmpty()) {
                addresses.numberDevices(map);
            } else {
                addresses.numberHosts(map, machines);
            }
            return addresses;
        }
        try {
            for (HostLayout.Host host : layout.hosts(span)) {
                int lids = Math.max(ports, map.lidsOfAHost());
                addresses.hosts.add(addresses.first(map, host.name(), lids, net));
            }
        } catch (IOException e) {
            addresses.close();
            throw Failure.of("reserving a LID of the soft fabric on " + net + ".*", e);
        }
        return addresses;
    }

    /** Hosts that share a device share its number: a GID must lead to one number. The device hands out its own QPNs. */
    private void numberDevices(AddressMap map) {
        Map<String, HostAddress> numbered = new HashMap<>();
        List<HostLayout.Host> own = layout.hosts(span);
        for (int host = 0; host < own.size(); host++) {
            String name = own.get(host).name();
            HostAddress number = numbered.computeIfAbsent(devices.ofHost(firstHost() + host),
                    device -> map.newHost(name, REAL_PORTS));
            hosts.add(new HostAddress(name, number.lid(), number.lids(), 0, 0));
        }
    }

    private void numberHosts(AddressMap map, List<String> machines) {
        hosts.addAll(HostNumbers.of(layout, machines, devices, map.generation()).subList(firstHost(),
                firstHost() + layout.hosts(span).size()));
        hosts.forEach(map::addHost);
    }

    /** The first proposal that nobody has. On a network of several machines only some are this machine's. */
    private HostAddress first(AddressMap map, String name, int lids, String net) throws IOException {
        int searched = 0;
        while (true) {
            HostAddress proposal = map.newHost(name, lids);
            try {
                if (holdAll(proposal, net)) {
                    return proposal;
                }
            } catch (BindException notOurs) {
                searched = firstOwn(searched + 1, net);
                map.searchFrom(searched);
            }
        }
    }

    /** This machine's first LID from that one on. */
    private static int firstOwn(int from, String net) throws IOException {
        for (int lid = from; lid <= AddressMap.LAST_LID; lid++) {
            if (mayBeGiven(lid)) {
                try (DatagramChannel channel = DatagramChannel.open()) {
                    channel.bind(new InetSocketAddress(address(net, lid), 0));
                    return lid;
                } catch (BindException notOurs) {
                    continue;
                }
            }
        }
        throw new Failure(ExitCode.UNSUPPORTED, "the soft fabric has no free LID on this machine, which has "
                + (from == 1 ? "none" : "no more") + " of the addresses " + net
                + ".*: add a block with 'ip route add local " + net + ".H.0/24 dev lo', where H differs on each host "
                + "(docs/operator/networks.md)");
    }

    /** Not what is broadcast-like on a real net with 24-bit subnets. */
    private static boolean mayBeGiven(int lid) {
        return (lid & 255) != 0 && (lid & 255) != 255;
    }

    private static InetAddress address(String net, int lid) throws IOException {
        return InetAddress.getByName(net + "." + (lid >> 8) + "." + (lid & 255));
    }

    private boolean holdAll(HostAddress host, String net) throws IOException {
        int before = reservations.size();
        for (int lid = host.lid(); lid < host.lid() + host.lids(); lid++) {
            if (!hold(lid, net)) {
                while (reservations.size() > before) {
                    reservations.removeLast().close();
                }
                return false;
            }
        }
        return true;
    }

    private boolean hold(int lid, String net) throws IOException {
        if (!mayBeGiven(lid)) {
            return false;
        }
        DatagramChannel channel = DatagramChannel.open();
        try {
            channel.bind(new InetSocketAddress(address(net, lid), RESERVING_PORT));
            reservations.add(channel);
            return true;
        } catch (BindException e) {
            channel.close();
            if (String.valueOf(e.getMessage()).contains("in use")) {
                return false;
            }
            throw e; // EADDRNOTAVAIL: the net is not this machine's
        }
    }

    /** The address of the host of one of the span's ranks in this incarnation. */
    public HostAddress of(int rank) {
        return hosts.get(hostOf(rank));
    }

    /** The verbs device of the rank's host in this incarnation. */
    public String device(int rank) {
        return devices.ofHost(layout.hostOf(rank)); // by the job's hosts: each agent counts them alike
    }

    /** Among the span's hosts. */
    private int hostOf(int rank) {
        span.index(rank);
        return layout.hostOf(rank) - firstHost();
    }

    private int firstHost() {
        return layout.hostOf(span.first());
    }

    /** Whether that is the soft fabric's. */
    public boolean soft() {
        return devices.soft();
    }

    /** The addresses of the span's hosts, in order. */
    public List<HostAddress> hosts() {
        return List.copyOf(hosts);
    }

    /**
     * Datagrams of loopback are known by where they come from; those between hosts have tags. Nothing that is sent to
     * it is read.
     */
    @Override
    public Closeable keep(VerbsAddress real) throws IOException {
        if (!devices.soft() || !net.startsWith(LOOPBACK)) {
            return () -> {};
        }
        DatagramChannel channel = DatagramChannel.open();
        try {
            channel.bind(new InetSocketAddress(address(net, real.lid()), real.qpn()));
            channel.connect(new InetSocketAddress(address(net, real.lid()), RESERVING_PORT));
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    @Override
    public void close() {
        for (DatagramChannel channel : reservations) {
            try {
                channel.close();
            } catch (IOException e) {
                throw Failure.of("freeing a LID of the soft fabric", e);
            }
        }
    }
}
