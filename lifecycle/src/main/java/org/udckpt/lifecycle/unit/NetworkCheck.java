package org.udckpt.lifecycle.unit;

import org.udckpt.agent.Job;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * That the ranks of a job's other hosts can be reached at the addresses that those of one host have: asked on that
 * host, and for a plan on the lead's.
 */
public final class NetworkCheck {
    private NetworkCheck() {}

    /** @param alone whether the agents are all on the lead's own machine */
    public static void requireNet(String net, boolean alone) {
        if (net.startsWith("127.") && !alone) {
            throw new Failure(ExitCode.UNSUPPORTED, "the soft fabric's addresses are " + net
                    + ".*, a loopback network: set UDCKPT_SOFT_NET to the first two numbers"
                    + " of a network of all hosts, and give each host a block of it (docs/operator/networks.md)");
        }
    }

    /** What {@code UDCKPT_SOFT_NET} says, in an environment. */
    public static String net(java.util.Map<String, String> environment) {
        return environment.getOrDefault("UDCKPT_SOFT_NET", Job.DEFAULT_NET);
    }
}
