package org.udckpt.launch.slurm;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.launch.HostLayout;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * The nodes of the allocation that this process is in.
 *
 * @param job   its number
 * @param tasks its nodes by Slurm's names, and for how many tasks each has room
 */
public record SlurmNodes(String job, HostLayout tasks) {
    private static final Pattern TASKS = Pattern.compile("(\\d{1,6})(?:\\(x(\\d{1,6})\\))?");
    private static final Pattern ADDRESS = Pattern.compile("\\bNodeAddr=(\\S+)");
    /** Above are those of batch scripts and of salloc's shells (slurm.h: SLURM_MAX_NORMAL_STEP_ID). */
    private static final long LAST_STEP = 0xfffffff0L;

    /**
     * Empty outside of Slurm, and in a task of a step, which was placed by whoever wrote its {@code srun}.
     *
     * @param environment of this process: SLURM_JOB_ID, SLURM_JOB_NODELIST, SLURM_TASKS_PER_NODE (sbatch(1), OUTPUT
     *     ENVIRONMENT VARIABLES)
     */
    public static Optional<SlurmNodes> of(Map<String, String> environment) {
        if (!within(environment)) {
            return Optional.empty();
        }
        String job = environment.get("SLURM_JOB_ID"), nodes = environment.get("SLURM_JOB_NODELIST"),
                tasks = environment.get("SLURM_TASKS_PER_NODE");
        boolean plain = !nodes.contains("[") && !nodes.contains(",");
        return Optional.of(of(job,
                plain ? List.of(nodes) : SlurmCommand.ask("scontrol", "show", "hostnames", nodes).lines().toList(),
                tasks));
    }

    /** Whether {@link #of} finds any: Slurm is not asked. */
    public static boolean within(Map<String, String> environment) {
        return environment.keySet().containsAll(List.of("SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE"))
                && !isOfStep(environment.getOrDefault("SLURM_STEP_ID", ""));
    }

    private static boolean isOfStep(String step) {
        return step.matches("\\d{1,10}") && Long.parseLong(step) <= LAST_STEP;
    }

    /** @param tasks as in {@code 4(x2),3}: of the nodes in their order */
    static SlurmNodes of(String job, List<String> nodes, String tasks) {
        List<HostLayout.Host> hosts = new ArrayList<>();
        for (String word : tasks.split(",", -1)) {
            Matcher form = TASKS.matcher(word);
            int times = !form.matches() ? 0 : form.group(2) == null ? 1 : Integer.parseInt(form.group(2));
            if (times == 0 || hosts.size() + times > nodes.size()) {
                throw unclear(job, nodes, tasks);
            }
            for (int i = 0; i < times; i++) {
                hosts.add(new HostLayout.Host(nodes.get(hosts.size()), Integer.parseInt(form.group(1))));
            }
        }
        if (hosts.size() != nodes.size()) {
            throw unclear(job, nodes, tasks);
        }
        return new SlurmNodes(job, new HostLayout(List.copyOf(hosts)));
    }

    private static Failure unclear(String job, List<String> nodes, String tasks) {
        return new Failure(ExitCode.UNSUPPORTED,
                "Slurm's job " + job + " has " + nodes.size() + " nodes (" + String.join(", ", nodes)
                        + ") with SLURM_TASKS_PER_NODE '" + tasks
                        + "', which does not match these nodes: give --starter srun and --hosts");
    }

    /**
     * Where so many ranks go: to the nodes in their order, to each as many as it has room for.
     *
     * @throws Failure 64 if there are too many
     */
    public HostLayout holding(int ranks) {
        List<HostLayout.Host> hosts = new ArrayList<>();
        int left = ranks;
        for (HostLayout.Host node : tasks.hosts()) {
            int count = Math.min(left, node.ranks());
            if (count > 0) {
                hosts.add(new HostLayout.Host(node.name(), count));
            }
            left -= count;
        }
        if (left > 0) {
            throw new Failure(ExitCode.USAGE,
                    "-n " + ranks + ": Slurm's job " + job + " has room for " + tasks.ranks() + " tasks, "
                            + tasks.format() + ": submit it with --ntasks=" + ranks
                            + ", give --starter srun and --hosts, or --hosts localhost:" + ranks
                            + " to run all ranks on this host");
        }
        return new HostLayout(List.copyOf(hosts));
    }

    /** The address that Slurm knows a node by, also where its name is none that this machine knows. */
    public static String address(String node) {
        Matcher address = ADDRESS.matcher(SlurmCommand.ask("scontrol", "--oneliner", "show", "node", node));
        if (!address.find()) {
            throw new Failure(ExitCode.IO, "scontrol show node " + node + " printed no address (NodeAddr)");
        }
        return address.group(1);
    }
}
