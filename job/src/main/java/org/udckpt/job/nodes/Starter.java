package org.udckpt.job.nodes;

import java.util.List;

/** How a job's agents come to their hosts (docs/nodes.md). */
public sealed interface Starter {
    String LOCAL = "local", SSH = "ssh", SRUN = "srun", MPIEXEC = "mpiexec", HOST = "{host}";

    /** Each is a process of this machine, whatever its unit's host is called. */
    record Local() implements Starter {}

    /** One command for each, with {@link #HOST} for the host; the agent's words are added. It passes standard input, output and error on, and ends with the agent. */
    record EachHost(List<String> words) implements Starter {
        public EachHost {
            words = List.copyOf(words);
        }
    }

    /** One {@code srun} for all, in an allocation of Slurm. */
    record Srun() implements Starter {}

    /** One {@code mpiexec} for all. */
    record Mpiexec(MpiexecKind kind) implements Starter {}
}
