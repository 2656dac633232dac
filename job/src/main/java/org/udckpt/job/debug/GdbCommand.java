package org.udckpt.job.debug;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;

/**
 * How gdb is called.
 *
 * @param gdb the program, and options of the user's
 * @param commands that it runs when it has its processes
 * @param interactive a person goes on after them, on the terminal; else gdb ends with them, and lets its processes go on
 * @param output where that gdb's words go
 */
public record GdbCommand(List<String> gdb, List<String> commands, boolean interactive, OutputStream output) {
    public static final String DEFAULT = "gdb";

    /** 69 when there is no such program, or no terminal for a person. */
    public GdbCommand {
        if (gdb.isEmpty() || gdb.getFirst().isEmpty()) {
            throw new Failure(ExitCode.USAGE, "--gdb: the program's name is empty");
        }
        if (!found(gdb.getFirst())) {
            throw new Failure(ExitCode.UNSUPPORTED, gdb.getFirst() + " is not there: install it (Debian: apt-get install gdb), or name another one with --gdb");
        }
        if (interactive && !Terminal.there()) {
            throw new Failure(ExitCode.UNSUPPORTED, "there is no terminal on which gdb could ask what to do: give its commands in a file");
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
