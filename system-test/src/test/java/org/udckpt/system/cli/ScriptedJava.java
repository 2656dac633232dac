package org.udckpt.system.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The java command that the udckpt script runs (scripts/java.sh): this build's jars, their archive of classes, the same
 * flags.
 */
public final class ScriptedJava {
    private static final String ASK = "root=$1; . \"$root/scripts/java.sh\"; set_locale; "
            + "printf '%s\\n' $(java_flags \"$2\") $(archive_flags \"$2\") -cp \"$(class_path)\"";
    private static final Map<String, List<String>> FLAGS = new ConcurrentHashMap<>();

    private ScriptedJava() {}

    /** @param verb the first word of the command line, which some flags depend on */
    public static List<String> command(String verb) {
        List<String> command =
                new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(FLAGS.computeIfAbsent(verb, ScriptedJava::ask));
        return command;
    }

    /**
     * The process below another one whose command line ends in these words; all of its line is read, of which
     * ProcessHandle.Info has one page.
     */
    public static ProcessHandle below(Process parent, String... words) {
        String end = '\0' + String.join("\0", words) + '\0';
        return parent.descendants().filter(each -> line(each).endsWith(end)).findFirst()
                .orElseThrow(() -> new AssertionError("no process of "
                        + parent.descendants().map(ScriptedJava::line).toList() + " ends in " + List.of(words)));
    }

    private static String line(ProcessHandle process) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"),
                    StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return ""; // it has ended
        }
    }

    private static List<String> ask(String verb) {
        try {
            Process script = new ProcessBuilder("bash", "-euc", ASK, "bash", System.getProperty("udckpt.root"), verb)
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            List<String> flags =
                    new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8).lines().toList();
            if (script.waitFor() != 0 || flags.isEmpty()) {
                throw new AssertionError("scripts/java.sh does not say how to run '" + verb + "'");
            }
            return flags;
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
