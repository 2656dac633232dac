package org.udckpt.job.life;

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
                    + " of a network that all hosts are on, and give each a block of it (docs/operator/networks.md)");
        }
    }

    /** What {@code UDCKPT_SOFT_NET} says, in an environment. */
    static String net(java.util.Map<String, String> environment) {
        return environment.getOrDefault("UDCKPT_SOFT_NET", Job.DEFAULT_NET);
    }
}
