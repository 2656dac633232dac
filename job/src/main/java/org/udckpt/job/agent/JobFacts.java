package org.udckpt.job.agent;

import java.nio.file.Path;
import java.util.List;
import org.udckpt.address.RankSpan;
import org.udckpt.job.launch.HostLayout;
import org.udckpt.job.launch.Launch;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;

/**
 * What does not change while a job lives.
 *
 * @param imageDirectory where its checkpoints go, absolute
 * @param launch who has started its processes
 * @param layout of the whole job
 * @param span the ranks of this agent; no host of the layout is split
 * @param command the program and its arguments as given
 * @param generation 0 in the first life, one more after each restart
 * @param namedRuntime the runtime directory of the first life, which the processes' environment names for ever; null in that life
 */
public record JobFacts(String name, Path imageDirectory, Launch launch, HostLayout layout, RankSpan span, List<String> command, int generation, String namedRuntime) {
    public JobFacts {
        int hosts = layout.hosts(span).size(); // which refuses what does not fit
        if (launch == Launch.PMIX && hosts > 1) {
            throw new Failure(ExitCode.USAGE, "--hosts " + layout.format() + ": a launcher of Open MPI's ranks (--mpi pmix) has those of one host, and this agent has " + hosts
                    + ": leave --hosts out, or begin the job with --starter local too, which makes an agent for each");
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
