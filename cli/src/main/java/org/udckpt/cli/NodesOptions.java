package org.udckpt.cli;

import java.util.List;
import java.util.Optional;
import org.udckpt.cluster.HostNames;
import org.udckpt.cluster.NodesRequest;
import org.udckpt.cluster.Starter;
import org.udckpt.coordination.tree.Tree;
import org.udckpt.launch.HostLayout;
import org.udckpt.launch.slurm.SlurmNodes;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/** What {@code run} and {@code restart} are told of a job on several hosts (docs/user/several-hosts.md). */
final class NodesOptions {
    private static final int LEAST_FAN_OUT = 2, MOST_FAN_OUT = 32;

    @picocli.CommandLine.Option(names = "--starter", paramLabel = "local|ssh|srun|mpiexec|COMMAND",
            description = "run the job on the machines in --hosts, and start an agent on each in this way; COMMAND "
                    + "contains {host} for the host's name; default when --hosts are machine names: ssh, in a Slurm "
                    + "allocation srun")
    private String starter;

    /** Names that {@link #byName} has found to be no machine's. */
    private List<String> simulated = List.of();

    @picocli.CommandLine.Option(names = "--fan-out", paramLabel = "N", description = "children of an agent in the "
            + "tree of agents, 2 to 32; default: 16")
    private Integer fanOut;

    @picocli.CommandLine.Option(names = "--start-timeout", description = "time for all agents to start and connect; "
            + "default: 60s")
    private String startTimeout;

    @picocli.CommandLine.Option(names = "--lead-address", paramLabel = "ADDRESS",
            description = "address of this host that agents on other hosts connect to; default: the address from "
                    + "which this host reaches them")
    private String leadAddress;

    @picocli.CommandLine.Option(names = "--heartbeat-timeout", paramLabel = "DURATION", description = "a host is "
            + "lost when its agent is silent for this time, 1s to 1d; default: 10s")
    private String heartbeatTimeout;

    @picocli.CommandLine.Option(names = "--spares", paramLabel = "a,b|N", description = "hosts that replace lost "
            + "ones (--restart-on-failure); N: the last N of --hosts or of the Slurm allocation")
    private String spares;

    /** Adds what is a setting. */
    Settings over(Settings settings) {
        return settings.flag(Option.SPARES, spares).flag(Option.START_TIMEOUT, startTimeout)
                .flag(Option.LEAD_ADDRESS, leadAddress).flag(Option.HEARTBEAT_TIMEOUT, heartbeatTimeout);
    }

    /** Whether nobody says how agents come to hosts. */
    boolean silent() {
        return starter == null;
    }

    /** Says which hosts are none: to be called when all else is right. */
    void tellSimulated() {
        if (!simulated.isEmpty()) {
            Messages.info(String.join(", ", simulated) + (simulated.size() == 1
                    ? " is not a machine name: it is a host" : " are not machine names: they are hosts")
                    + " simulated on this machine");
        }
    }

    /**
     * How agents come to hosts of which nothing is said but their names, if these are machines'; else they are
     * simulated.
     *
     * @param hosts null: none are named
     */
    Optional<Starter> byName(HostLayout hosts) {
        if (starter != null || hosts == null) {
            return Optional.empty();
        }
        List<String> names = hosts.hosts().stream().map(HostLayout.Host::name).toList();
        HostNames.Kinds kinds = HostNames.kinds(names);
        if (!kinds.others().isEmpty() && !kinds.nobodys().isEmpty()) {
            throw new Failure(ExitCode.USAGE, "--hosts: " + String.join(", ", kinds.nobodys())
                    + (kinds.nobodys().size() == 1 ? " is not a machine name" : " are not machine names")
                    + " here, but " + String.join(", ", kinds.others()) + (kinds.others().size() == 1 ? " is" : " are")
                    + ": is one of them a typo? (To simulate all hosts on this machine, use only names that are not "
                    + "machine names;"
                    + " if the names are known only on the hosts themselves, give --starter.)");
        }
        if (kinds.others().isEmpty()) {
            simulated = kinds.nobodys();
            return Optional.empty();
        }
        String word = SlurmNodes.within(System.getenv()) ? "srun" : "ssh";
        Messages.info(String.join(", ", names) + ": these are machines: " + word
                + " starts an agent on each (--starter selects another way; simulated hosts need names that are not "
                + "machine names)");
        return Optional.of(Starter.parse(word, System.getenv()));
    }

    /**
     * Empty: the job is on this machine alone.
     *
     * @param otherwise the starter when none was given
     */
    Optional<NodesRequest> check(Optional<Starter> otherwise) {
        if (starter == null && otherwise.isEmpty()) {
            refuse("--fan-out", fanOut);
            refuse("--start-timeout", startTimeout);
            refuse("--lead-address", leadAddress);
            refuse("--heartbeat-timeout", heartbeatTimeout);
            refuse("--spares", spares);
            return Optional.empty();
        }
        int wanted = fanOut == null ? Tree.USUAL_FAN_OUT : fanOut;
        if (wanted < LEAST_FAN_OUT || wanted > MOST_FAN_OUT) {
            throw new Failure(ExitCode.USAGE,
                    "--fan-out " + wanted + ": give " + LEAST_FAN_OUT + " to " + MOST_FAN_OUT);
        }
        return Optional.of(
                new NodesRequest(starter == null ? otherwise.get() : Starter.parse(starter, System.getenv()), wanted));
    }

    private static void refuse(String flag, Object given) {
        if (given != null) {
            throw new Failure(ExitCode.USAGE, flag + " applies only to jobs on several hosts: give --starter too, "
                    + "which starts their agents");
        }
    }
}
