package org.udckpt.cluster;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/** The words of {@code udckpt agent} on a job's hosts. */
final class AgentWords {
    private AgentWords() {}

    /** Without the unit. They go through shells of other hosts as they are, so that no word may mean anything there. */
    static List<String> words(Settings settings) {
        String remote = settings.text(Option.REMOTE);
        String program = remote.isEmpty() ? here() : remote;
        if (!program.matches("[A-Za-z0-9_/.,:+@%=-]+")) {
            throw new Failure(ExitCode.UNSUPPORTED, "agents are started through shells on other hosts, which would "
                    + "split '" + program
                    + "' or interpret its characters: set UDCKPT_REMOTE to a path of udckpt without spaces and "
                    + "special characters, such as a symbolic link");
        }
        List<String> words = new ArrayList<>(List.of(program, "agent"));
        if (Messages.json()) {
            words.add("--log-json");
        }
        if (Messages.debug()) {
            words.add("--debug");
        }
        return words;
    }

    private static String here() {
        String script = System.getProperty("udckpt.command", "");
        if (script.isEmpty()) {
            throw new Failure(ExitCode.UNSUPPORTED, "the path of udckpt is unknown: start it by the udckpt script, "
                    + "or set UDCKPT_REMOTE");
        }
        return script;
    }

    /**
     * @throws Failure if there is no such program in PATH, which a starter's exit code could not tell from one that is
     *     missing on the host
     */
    static void requireProgram(String word) {
        boolean found = word.contains("/") ? new File(word).canExecute()
                : List.of(System.getenv().getOrDefault("PATH", "/usr/local/bin:/usr/bin:/bin").split(":")).stream()
                        .anyMatch(directory -> new File(directory, word).canExecute());
        if (!found) {
            throw new Failure(ExitCode.NOT_FOUND, "agents cannot be started: '" + word
                    + "' is not a program on this machine");
        }
    }
}
