package org.udckpt.agent;

import java.nio.file.Path;
import java.util.List;
import org.udckpt.address.RankSpan;
import org.udckpt.launch.HostLayout;
import org.udckpt.launch.LaunchMode;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * What does not change while a job lives.
 *
 * @param imageDirectory where its checkpoints go, absolute
 * @param launch how its processes are started
 * @param layout of the whole job
 * @param span the ranks of this agent; no host of the layout is split
 * @param command the program and its arguments as given
 * @param generation 0 in the first incarnation, one more after each restart
 * @param namedRuntime the runtime directory of the first incarnation, which the processes' environment names for ever;
 *     null in that incarnation
 */
public record JobFacts(String name, Path imageDirectory, LaunchMode launch, HostLayout layout, RankSpan span,
        List<String> command, int generation, String namedRuntime) {
    public JobFacts {
        int hosts = layout.hosts(span).size(); // which refuses what does not fit
        if (launch == LaunchMode.PMIX && hosts > 1) {
            throw new Failure(ExitCode.USAGE, "--hosts " + layout.format() + ": with --mpi pmix one agent has the "
                    + "ranks of one host only, and this agent has hosts: " + hosts
                    + ": leave --hosts out, or add --starter local, which starts an agent for each host");
        }
    }

    /** The ranks that the agent starts itself. */
    public RankSpan roots() {
        return launch.roots(span);
    }

    /** The same of a job whose processes name this runtime directory. */
    public JobFacts named(String runtime) {
        return new JobFacts(name, imageDirectory, launch, layout, span, command, generation, runtime);
    }
}
