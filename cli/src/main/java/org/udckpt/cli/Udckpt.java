package org.udckpt.cli;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.report.PrintableStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command {@code udckpt} and what becomes of its errors: one clear line and a documented exit code. */
@Command(name = "udckpt", mixinStandardHelpOptions = true, versionProvider = Version.class,
        description = "Checkpoint and restart of unmodified MPI jobs over InfiniBand verbs.",
        footer = {
                "  demo        A whole example: run, checkpoint, kill, restart on",
                "                other addresses, compare.",
                "  test        The whole test suite, or one test: CLASS or CLASS#METHOD.",
                "  lint        Warnings of compilers, style, spelling, links.",
                "  format      Fix white space and the order of imports.",
                "  install     Install below a prefix, for all users.",
                "  bench       Benchmarks; 'udckpt bench' lists them.",
                "",
                "Exit codes: docs/operator/exit-codes.md."
        })
public final class Udckpt implements Runnable {
    private static final List<Class<?>> VERBS = List.of(RunCommand.class, AgentCommand.class, BatchCommand.class,
            CheckpointCommand.class, RestartCommand.class,
            StatusCommand.class, ListCommand.class, InspectCommand.class, DiffCommand.class, VerifyCommand.class,
            RemoveCommand.class, PruneCommand.class,
            ExportCoreCommand.class, BisectCommand.class,
            CheckCommand.class, ConfigCommand.class, CommandLine.HelpCommand.class);

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command given");
    }

    /** Runs a command line; returns the exit code. */
    public static int run(String... arguments) {
        RestartCommand plain =
                arguments.length > 0 && arguments[0].equals("restart") ? RestartCommand.plain(arguments) : null;
        return plain != null ? run(plain) : parseAndRun(arguments);
    }

    private static int run(RestartCommand plain) {
        try {
            return plain.call();
        } catch (Exception e) {
            return report(Failure.of("restart", e));
        }
    }

    private static int parseAndRun(String... arguments) {
        CommandLine line = line(arguments);
        line.setOut(new PrintWriter(PrintableStream.plain(), true)); // the help, with its bold words
        line.setExpandAtFiles(false); // @file is an argument like any other
        line.setStopAtPositional(true); // what follows the program belongs to the program
        line.getSubcommands()
                .forEach((name, command) -> command.setStopAtPositional(name.equals("run") || name.equals("batch")));
        line.getSubcommands().values().forEach(FormerOptions::install);
        line.setExecutionExceptionHandler(
                (exception, command, parsed) -> report(Failure.of(command.getCommandName(), exception)));
        line.setParameterExceptionHandler((exception, parsed) -> {
            Messages.configure(
                    Arrays.stream(arguments).takeWhile(word -> !word.equals("--")).anyMatch("--log-json"::equals),
                    false);
            Messages.error(explain(exception) + "; see '" + exception.getCommandLine().getCommandSpec().qualifiedName()
                    + " --help'", null);
            return ExitCode.USAGE.value();
        });
        return line.execute(arguments);
    }

    /** The command with its verbs: with all, or with the one that is asked for. */
    static CommandLine line(String... arguments) {
        CommandLine line = new CommandLine(new Udckpt());
        addVerbs(line, arguments);
        line.getSubcommands().values().forEach(HelpGroups::install);
        return line;
    }

    /**
     * Only the verb that is asked for, where one is: to build all of them takes picocli longer than most commands run.
     */
    private static void addVerbs(CommandLine line, String... arguments) {
        for (Class<?> verb : VERBS) {
            String name = verb.getAnnotation(Command.class).name();
            if (arguments.length > 0 && arguments[0].equals(name) && verb != CommandLine.HelpCommand.class) {
                line.addSubcommand(name, verb);
                return;
            }
        }
        VERBS.forEach(verb -> line.addSubcommand(verb.getAnnotation(Command.class).name(), verb));
    }

    /** picocli's words, in the spelling of the help; for a word that is no verb the nearest one. */
    private static String explain(ParameterException exception) {
        if (exception instanceof UnmatchedArgumentException unmatched && !unmatched.isUnknownOption()
                && !exception.getCommandLine().getSubcommands().isEmpty()) {
            List<String> near = unmatched.getSuggestions();
            return "'" + unmatched.getUnmatched().getFirst() + "' is not a command" + (near.isEmpty() ? ""
                    : "; did you mean " + String.join(" or ", near) + "?");
        }
        return exception.getMessage().replace("'-np'", "'-n'").replace("is not an int", "is not a whole number");
    }

    private static int report(Failure failure) {
        Messages.error(failure.getMessage(), failure);
        return failure.code().value();
    }
}
