package org.udckpt.job.cli;

import java.util.List;
import java.util.Optional;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;
import org.udckpt.job.launch.HostLayout;
import org.udckpt.job.nodes.HostNames;
import org.udckpt.job.nodes.NodesRequest;
import org.udckpt.job.nodes.Starter;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.slurm.SlurmNodes;
import org.udckpt.job.tree.Tree;

/** What {@code run} and {@code restart} are told of a job on several hosts (docs/user/several-hosts.md). */
final class NodesOptions {
    private static final int LEAST_FAN_OUT = 2, MOST_FAN_OUT = 32;

    @picocli.CommandLine.Option(names = "--starter", paramLabel = "local|ssh|srun|mpiexec|COMMAND",
            description = "the job is on several hosts, --hosts names them, and this starts an agent on each: COMMAND is one with {host} for the host's name; default for names of machines: ssh, in an allocation of Slurm srun")
    private String starter;

    /** Names that {@link #byName} has found to be no machine's. */
    private List<String> simulated = List.of();

    @picocli.CommandLine.Option(names = "--fan-out", paramLabel = "N", description = "how many hosts' agents one agent speaks for, 2 to 32; default: 16")
    private Integer fanOut;

    @picocli.CommandLine.Option(names = "--start-timeout", description = "how long agents may take until all have come; default: 60s")
    private String startTimeout;

    @picocli.CommandLine.Option(names = "--lead-address", paramLabel = "ADDRESS",
            description = "of this host, by which the agents on others reach it; default: the one by which it reaches them")
    private String leadAddress;

    @picocli.CommandLine.Option(names = "--lease", paramLabel = "DURATION", description = "how long an agent may be silent until its host is lost, from 1s; default: 10s")
    private String lease;

    @picocli.CommandLine.Option(names = "--spares", paramLabel = "a,b|N", description = "hosts that take the place of lost ones (--restart-on-failure); N: the last N of --hosts, or of Slurm's allocation")
    private String spares;

    /** Adds what is a setting. */
    Settings over(Settings settings) {
        return settings.flag(Option.SPARES, spares).flag(Option.START_TIMEOUT, startTimeout).flag(Option.LEAD_ADDRESS, leadAddress).flag(Option.LEASE, lease);
    }

    /** Whether nobody says how agents come to hosts. */
    boolean silent() {
        return starter == null;
    }

    /** Says which hosts are none: to be called when all else is right. */
    void tellSimulated() {
        if (!simulated.isEmpty()) {
            Messages.info(String.join(", ", simulated) + (simulated.size() == 1 ? ": no machine has this name, so that it is a simulated host" : ": no machine has these names, so that they are simulated hosts") + " on this one");
        }
    }

    /** How agents come to hosts of which nothing is said but their names, if these are machines'; else they are simulated. @param hosts null: none are named */
    Optional<Starter> byName(HostLayout hosts) {
        if (starter != null || hosts == null) {
            return Optional.empty();
        }
        List<String> names = hosts.hosts().stream().map(HostLayout.Host::name).toList();
        HostNames.Kinds kinds = HostNames.kinds(names);
        if (!kinds.others().isEmpty() && !kinds.nobodys().isEmpty()) {
            throw new Failure(ExitCode.USAGE, "--hosts: " + String.join(", ", kinds.nobodys()) + (kinds.nobodys().size() == 1 ? " is no machine's name" : " are no machines' names")
                    + " here, but " + String.join(", ", kinds.others()) + (kinds.others().size() == 1 ? " is" : " are") + ": a slip of the pen? (To simulate all of them on this machine give names that no machine has;"
                    + " where only the hosts themselves know these names, give --starter too.)");
        }
        if (kinds.others().isEmpty()) {
            simulated = kinds.nobodys();
            return Optional.empty();
        }
        String word = SlurmNodes.within(System.getenv()) ? "srun" : "ssh";
        Messages.info(String.join(", ", names) + ": these are machines, and " + word + " starts an agent on each (--starter says otherwise; simulated hosts have names that no machine has)");
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
            refuse("--lease", lease);
            refuse("--spares", spares);
            return Optional.empty();
        }
        int wanted = fanOut == null ? Tree.USUAL_FAN_OUT : fanOut;
        if (wanted < LEAST_FAN_OUT || wanted > MOST_FAN_OUT) {
            throw new Failure(ExitCode.USAGE, "--fan-out " + wanted + ": give " + LEAST_FAN_OUT + " to " + MOST_FAN_OUT);
        }
        return Optional.of(new NodesRequest(starter == null ? otherwise.get() : Starter.parse(starter, System.getenv()), wanted));
    }

    private static void refuse(String flag, Object given) {
        if (given != null) {
            throw new Failure(ExitCode.USAGE, flag + " is of jobs on several hosts: give --starter too, which says how agents come to them");
        }
    }
}
