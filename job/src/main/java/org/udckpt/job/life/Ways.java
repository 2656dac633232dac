package org.udckpt.job.life;

import org.udckpt.address.AddressMap;
import org.udckpt.address.Transport;
import org.udckpt.job.agent.Job;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;

/** That the ranks of a job's other hosts can be reached at the addresses that those of one host have: asked on that host, and for a plan on the lead's. */
final class Ways {
    private Ways() {}

    /** @param alone whether the agents are all on the lead's own machine */
    static void requireNet(String net, boolean alone) {
        if (net.startsWith("127.") && !alone) {
            throw new Failure(ExitCode.UNSUPPORTED, "the soft fabric's addresses are " + net + ".*, which is each host's own loopback: set UDCKPT_SOFT_NET to the first two numbers"
                    + " of a network that all hosts are on, and give each a block of it (docs/hosts.md)");
        }
    }

    /** @param device names, with + between them, of this host */
    static void requireInfiniBand(String device) {
        if (EthernetPorts.any(device)) {
            throw new Failure(ExitCode.UNSUPPORTED, "device " + device + " has Ethernet ports (RoCE), which jobs on several hosts cannot use yet;"
                    + " InfiniBand and --device soft can be used");
        }
    }

    /** @param addresses of a restarted job's ranks on one host, which have a real device from now on */
    static void requireNoConnections(String device, AddressMap addresses) {
        if (addresses.endpoints().stream().anyMatch(endpoint -> endpoint.transport() == Transport.RC)) {
            throw new Failure(ExitCode.UNSUPPORTED, "the job has reliable connections, whose remote keys are new on device " + device
                    + " and cannot be told to peers on other hosts yet: restart it with --device soft, or on one host");
        }
    }

    /** What {@code UDCKPT_SOFT_NET} says, in an environment. */
    static String net(java.util.Map<String, String> environment) {
        return environment.getOrDefault("UDCKPT_SOFT_NET", Job.DEFAULT_NET);
    }
}
