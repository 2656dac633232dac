package org.udckpt.job.cli;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.util.concurrent.Callable;
import org.udckpt.job.config.Installation;
import org.udckpt.job.life.UnitLife;
import org.udckpt.job.nodes.NodeAgent;
import org.udckpt.job.nodes.UnitChoice;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code udckpt agent}: what a starter starts on each of a job's hosts; not for people. */
@Command(name = "agent", hidden = true, description = "One host's part of a job on several: started by 'udckpt run --starter ...', with what it is to do on standard input.")
final class AgentCommand implements Callable<Integer> {
    /** One of both. */
    static final class Which {
        @Option(names = "--unit", paramLabel = "N", description = "the unit of ranks that it has")
        private Integer unit;

        @Option(names = "--unit-in", paramLabel = "VARIABLE", description = "the environment variable that has its number")
        private String variable;
    }

    @Mixin
    private CommonOptions common;

    @ArgGroup(multiplicity = "1")
    private Which which;

    @Override
    @SuppressWarnings("resource") // the process's own standard input, which its ranks go on with
    public Integer call() throws InterruptedException {
        UnitChoice choice = which.unit != null ? new UnitChoice.Said(which.unit) : new UnitChoice.Numbered(which.variable, System.getenv());
        return NodeAgent.run(new FileInputStream(FileDescriptor.in), choice, common.settings(), (specification, unit, settings, key, end) ->
                new UnitLife(Installation.find(settings), specification, unit, settings, key, end));
    }
}
