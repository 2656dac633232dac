package org.udckpt.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.util.List;
import java.util.function.UnaryOperator;
import org.udckpt.launch.slurm.SlurmNodes;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** The address of this host at which the lead listens: one by which all of the job's hosts reach it. */
final class LeadAddress {
    private static final int ANY_PORT = 9; // discard: nothing is sent

    private LeadAddress() {}

    static InetAddress of(Settings settings, Starter starter, List<Unit> units) {
        String given = settings.text(Option.LEAD_ADDRESS);
        if (!given.isEmpty()) {
            return own(settings, given);
        }
        List<String> hosts = units.stream().map(Unit::host).distinct().toList();
        return switch (starter) {
            case Starter.Local _ -> InetAddress.getLoopbackAddress();
            case Starter.EachHost _ -> towards(hosts, UnaryOperator.identity());
            case Starter.Srun _ -> towards(hosts, LeadAddress::slurms);
        };
    }

    /** Slurm's names of nodes need not be names of hosts. */
    private static String slurms(String node) {
        try {
            return InetAddress.getByName(node).getHostAddress();
        } catch (UnknownHostException e) {
            return SlurmNodes.address(node);
        }
    }

    private static InetAddress own(Settings settings, String given) {
        try {
            InetAddress address = InetAddress.getByName(given);
            if (address.isAnyLocalAddress() || NetworkInterface.getByInetAddress(address) == null) {
                throw settings.bad(Option.LEAD_ADDRESS, "one address of this host, not " + address.getHostAddress());
            }
            return address;
        } catch (IOException e) {
            throw settings.bad(Option.LEAD_ADDRESS, "an address of this host");
        }
    }

    /**
     * The one that packets to the first host that is not this one leave from. This host may have itself on loopback,
     * which no other reaches.
     */
    private static InetAddress towards(List<String> hosts, UnaryOperator<String> address) {
        InetAddress own = null;
        for (String host : hosts) {
            own = towards(address.apply(host));
            if (!own.isLoopbackAddress()) {
                return own;
            }
        }
        return own;
    }

    private static InetAddress towards(String host) {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(new InetSocketAddress(InetAddress.getByName(host), ANY_PORT));
            return socket.getLocalAddress();
        } catch (UnknownHostException e) {
            throw new Failure(ExitCode.USAGE, "the name of host " + host + " cannot be resolved on this machine: "
                    + "correct it in --hosts; if only the starter knows it,"
                    + " give --lead-address, the address of this host that agents connect to", e);
        } catch (IOException | UncheckedIOException e) {
            throw Failure.of("finding a route to host " + host + " (--lead-address avoids this)", e);
        }
    }
}
