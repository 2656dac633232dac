package org.udckpt.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Stack;
import org.udckpt.inspect.debug.Debugger;
import org.udckpt.inspect.debug.GdbCommand;
import org.udckpt.inspect.debug.Selection;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.StandardError;
import picocli.CommandLine.IParameterConsumer;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** Flags of {@code restart} about gdb. */
final class DebugOptions {
    private static final String TRACES = "";

    @Option(names = "--debug", arity = "0..1", paramLabel = "RANK[,RANK|pid:PID...]",
            parameterConsumer = IfProcesses.class,
            description = "stop the whole job before its first instruction, with these processes in gdb; without "
                    + "processes: verbose output, with stack traces")
    private String debug;

    @Option(names = "--debug-script", paramLabel = "FILE", description = "with --debug: gdb runs these commands and "
            + "exits; default: gdb reads commands from the terminal")
    private Path script;

    @Option(names = "--gdb", paramLabel = "COMMAND", description = "with --debug: the debugger command, with its "
            + "options; default: gdb")
    private String gdb;

    boolean traces() {
        return TRACES.equals(debug);
    }

    /** Which processes a debugger is to have; null: none is wanted. */
    Selection selection() {
        return debug == null || traces() ? null : Selection.parse(debug);
    }

    /** Null: none is wanted. */
    Debugger debugger() {
        boolean wanted = selection() != null;
        if (!wanted && (script != null || gdb != null)) {
            throw new Failure(ExitCode.USAGE, (script != null ? "--debug-script" : "--gdb")
                    + " needs --debug RANK, with the ranks to debug");
        }
        return wanted ? new Debugger(selection(),
                new GdbCommand(words(gdb), commands(), script == null, StandardError.patient())) : null;
    }

    /** The words of the flag {@code --gdb}, separated by spaces. */
    static List<String> words(String gdb) {
        return Arrays.asList((gdb == null ? GdbCommand.DEFAULT : gdb.strip()).split("\\s+"));
    }

    private List<String> commands() {
        if (script == null) {
            return List.of();
        }
        if (!Files.isReadable(script) || Files.isDirectory(script)) {
            throw new Failure(ExitCode.NOT_FOUND, "--debug-script: " + script + " cannot be read");
        }
        try {
            return Files.readAllLines(script);
        } catch (IOException e) {
            throw Failure.of("reading --debug-script " + script, e);
        }
    }

    /** The next word is this option's when it names processes: a directory is the command's own argument. */
    static final class IfProcesses implements IParameterConsumer {
        @Override
        public void consumeParameters(Stack<String> words, ArgSpec option, CommandSpec command) {
            option.setValue(!words.isEmpty() && Selection.matches(words.peek()) ? words.pop() : TRACES);
        }
    }
}
