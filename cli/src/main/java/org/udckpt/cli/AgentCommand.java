package org.udckpt.cli;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.util.concurrent.Callable;
import org.udckpt.cluster.NodeAgent;
import org.udckpt.cluster.UnitChoice;
import org.udckpt.lifecycle.unit.UnitRun;
import org.udckpt.support.config.Installation;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code udckpt agent}: what a starter starts on each of a job's hosts; not for people. */
@Command(name = "agent", hidden = true, description = "Run one host's ranks of a job on several hosts; 'udckpt run "
        + "--starter ...' starts it and sends it a specification on standard input.")
final class AgentCommand implements Callable<Integer> {
    /** One of both. */
    static final class Which {
        @Option(names = "--unit", paramLabel = "N", description = "the number of its unit of ranks")
        private Integer unit;

        @Option(names = "--unit-in", paramLabel = "VARIABLE", description = "the environment variable with its number")
        private String variable;
    }

    @Mixin
    private CommonOptions common;

    @ArgGroup(multiplicity = "1")
    private Which which;

    @Override
    @SuppressWarnings("resource") // the process's own standard input, which its ranks go on with
    public Integer call() throws InterruptedException {
        UnitChoice choice = which.unit != null ? new UnitChoice.Said(which.unit)
                : new UnitChoice.Numbered(which.variable, System.getenv());
        return NodeAgent.run(new FileInputStream(FileDescriptor.in), choice, common.settings(),
                (specification, unit, settings, key, end) -> new UnitRun(Installation.find(settings), specification,
                        unit, settings, key, end));
    }
}
