package org.udckpt.bench;

import org.udckpt.bench.micro.MicroCommand;
import org.udckpt.bench.model.ModelCommand;
import org.udckpt.bench.report.ReportCommand;
import org.udckpt.bench.run.BenchRunCommand;
import org.udckpt.bench.scale.ScaleCommand;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code udckpt bench}: what is written in Java; other benchmarks are scripts (scripts/bench.sh). */
@Command(name = "udckpt bench", mixinStandardHelpOptions = true,
        description = "Benchmarks, and what follows from them.",
        subcommands = {BenchRunCommand.class, ReportCommand.class, MicroCommand.class, ModelCommand.class,
                ScaleCommand.class})
public final class Bench implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a benchmark is missing");
    }

    /** The exit code. */
    static int run(String... arguments) {
        return new CommandLine(new Bench())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((exception, command, _) -> {
                    Failure failure = Failure.of(command.getCommandName(), exception);
                    Messages.error(failure.getMessage(), failure);
                    return failure.code().value();
                })
                .setParameterExceptionHandler((exception, _) -> {
                    Messages.error(exception.getMessage() + "; see '"
                            + exception.getCommandLine().getCommandSpec().qualifiedName() + " --help'", null);
                    return ExitCode.USAGE.value();
                })
                .execute(arguments);
    }

    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }
}
