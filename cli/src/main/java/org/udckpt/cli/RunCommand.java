package org.udckpt.cli;

import java.util.concurrent.Callable;
import org.udckpt.lifecycle.lead.LostLead;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code udckpt run}: a job in the foreground. */
@Command(name = "run", description = "Run a program that can be checkpointed: N ranks of an MPI program, or, without "
        + "-n and --hosts, any program with all processes that it starts.")
final class RunCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Mixin
    private NewJobOptions job;

    @Override
    public Integer call() throws Exception {
        return job.check(common.settings(), LostLead.ofThisProcess().map(LostLead::name).orElse(null)).run();
    }
}
