package org.udckpt.inspect.debug;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * How gdb is called.
 *
 * @param gdb the program, and options of the user's
 * @param commands that it runs when it has its processes
 * @param interactive a person goes on after them, on the terminal; else gdb ends with them, and lets its processes go
 *     on
 * @param output where that gdb's words go
 */
public record GdbCommand(List<String> gdb, List<String> commands, boolean interactive, OutputStream output) {
    public static final String DEFAULT = "gdb";

    /** 69 when there is no such program, or no terminal for a person. */
    public GdbCommand {
        if (gdb.isEmpty() || gdb.getFirst().isEmpty()) {
            throw new Failure(ExitCode.USAGE, "--gdb: the program name is empty");
        }
        if (!found(gdb.getFirst())) {
            throw new Failure(ExitCode.UNSUPPORTED, gdb.getFirst() + " is not installed: install it (Debian: apt-get "
                    + "install gdb), or give another one with --gdb");
        }
        if (interactive && !ControllingTerminal.there()) {
            throw new Failure(ExitCode.UNSUPPORTED, "gdb needs a terminal to read commands from: give its commands "
                    + "in a file instead");
        }
    }

    /** Whether there is such a program, as a shell's PATH has it. */
    public static boolean found(String program) {
        if (program.contains("/")) {
            return Files.isExecutable(Path.of(program));
        }
        for (String directory : System.getenv().getOrDefault("PATH", "/usr/bin:/bin").split(":")) {
            if (Files.isExecutable(Path.of(directory).resolve(program))) {
                return true;
            }
        }
        return false;
    }

    String program() {
        return gdb.getFirst();
    }

    List<String> words(Path script) {
        List<String> words = new ArrayList<>(gdb);
        words.addAll(interactive ? List.of("-q") : List.of("-q", "-batch"));
        words.addAll(List.of("-x", script.toString()));
        return words;
    }
}
