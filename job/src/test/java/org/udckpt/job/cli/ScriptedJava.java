package org.udckpt.job.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The java command that the udckpt script runs (scripts/java.sh): this build's jars, their archive of classes, the same flags. */
public final class ScriptedJava {
    private static final String ASK = "root=$1; . \"$root/scripts/java.sh\"; set_locale; "
            + "printf '%s\\n' $(java_flags \"$2\") $(archive_flags) -cp \"$(class_path)\"";
    private static final Map<String, List<String>> FLAGS = new ConcurrentHashMap<>();

    private ScriptedJava() {}

    /** @param verb the first word of the command line, which some flags depend on */
    public static List<String> command(String verb) {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(FLAGS.computeIfAbsent(verb, ScriptedJava::ask));
        return command;
    }

    private static List<String> ask(String verb) {
        try {
            Process script = new ProcessBuilder("bash", "-euc", ASK, "bash", System.getProperty("udckpt.root"), verb)
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            List<String> flags = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8).lines().toList();
            if (script.waitFor() != 0 || flags.isEmpty()) {
                throw new AssertionError("scripts/java.sh does not say how to run '" + verb + "'");
            }
            return flags;
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
