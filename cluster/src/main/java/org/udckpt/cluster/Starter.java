package org.udckpt.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** How a job's agents come to their hosts (docs/user/several-hosts.md). */
public sealed interface Starter {
    /** Stands for a host in the words of {@link EachHost}. */
    String HOST = "{host}";

    /** Each is a process of this machine, whatever its unit's host is called. */
    record Local() implements Starter {}

    /**
     * One command for each agent, whose words are added. It passes standard input, output and error on, and ends when
     * the agent does.
     */
    record EachHost(List<String> words) implements Starter {
        public EachHost {
            words = List.copyOf(words);
            if (words.isEmpty() || words.stream().noneMatch(word -> word.contains(HOST))) {
                throw new IllegalArgumentException("a command for each host must contain " + HOST + ": "
                        + String.join(" ", words));
            }
        }
    }

    /** One {@code srun} for all, in an allocation of Slurm: a task for each agent, in the units' order. */
    record Srun() implements Starter {}

    /**
     * @param text {@code local}, {@code ssh}, {@code srun}, the name or path of an {@code mpiexec} or {@code mpirun},
     *     or a command with {@link #HOST}
     * @param environment of this process
     */
    static Starter parse(String text, Map<String, String> environment) {
        if (text.equals("local")) {
            return new Local();
        } else if (text.equals("ssh")) {
            // nobody is there to type a password for each of many hosts
            return eachHost("ssh -T -x -o BatchMode=yes " + HOST);
        } else if (text.equals("srun")) {
            if (!environment.containsKey("SLURM_JOB_ID")) {
                throw new Failure(ExitCode.USAGE, "--starter srun: SLURM_JOB_ID is not set: run this in a batch "
                        + "script, or after 'salloc --nodes=N'");
            }
            return new Srun();
        } else if (text.matches("(\\S*/)?mpi(exec|run)[^/\\s]*")) {
            // one for each: only its first process gets standard input, in all of them
            return eachHost(text + " -n 1 -host " + HOST);
        } else if (text.contains(HOST)) {
            return eachHost(text);
        }
        throw new Failure(ExitCode.USAGE, "--starter '" + text + "': give local, ssh, srun, mpiexec, or a command "
                + "that runs another command on a host, with "
                + HOST + " for the host's name");
    }

    private static Starter eachHost(String command) {
        return new EachHost(Arrays.asList(command.strip().split("\\s+")));
    }

    /**
     * The commands that start all agents of a job.
     *
     * @param agent the words of {@code udckpt agent}, without the unit
     */
    default List<StartCommand> commands(NodeJob job, List<String> agent) {
        List<Unit> units = job.units();
        return switch (this) {
            case Local() -> IntStream.range(0, units.size())
                    .mapToObj(unit -> new StartCommand(said(List.of(), agent, unit), List.of(unit), "this host"))
                    .toList();
            case EachHost(List<String> words) -> IntStream.range(0, units.size()).mapToObj(unit -> {
                String host = units.get(unit).host();
                return new StartCommand(
                        said(words.stream().map(word -> word.replace(HOST, host)).toList(), agent, unit), List.of(unit),
                        host);
            }).toList();
            case Srun() -> List.of(srun(units, agent));
        };
    }

    private static List<String> said(List<String> before, List<String> agent, int unit) {
        List<String> words = new ArrayList<>(before);
        words.addAll(agent);
        words.addAll(List.of("--unit", Integer.toString(unit)));
        return words;
    }

    /**
     * Tasks in the order of the list (arbitrary), each with all of its host's processors and beside other steps of the
     * job (overlap, also the one that this process may be in); all read what this process writes; one that ends does
     * not take the others along; they find what this process finds, also in a job that was submitted without its user's
     * environment. The agents' own coordination needs no PMI.
     */
    private static StartCommand srun(List<Unit> units, List<String> agent) {
        List<String> hosts = units.stream().map(Unit::host).toList();
        List<String> words = new ArrayList<>(List.of("srun", "--nodes=" + hosts.stream().distinct().count(),
                "--ntasks=" + units.size(), "--distribution=arbitrary",
                "--nodelist=" + String.join(",", hosts), "--input=all", "--overlap", "--cpu-bind=none", "--mpi=none",
                "--export=ALL", "--no-kill", "--kill-on-bad-exit=0", "--wait=0", "--quit-on-interrupt"));
        words.addAll(agent);
        words.addAll(List.of("--unit-in", "SLURM_PROCID"));
        return new StartCommand(words, IntStream.range(0, units.size()).boxed().toList(),
                hosts.stream().distinct().limit(4).collect(Collectors.joining(", "))
                        + (hosts.stream().distinct().count() > 4 ? " ..." : ""));
    }
}
