package org.udckpt.support.config;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.process.restore.NewEnvironment;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** {@link Option#ENV}: one variable a line. */
public final class NewVariables {
    private NewVariables() {}

    /** As the setting has several; null: none were given. */
    public static String joined(List<String> variables) {
        variables.stream().filter(variable -> variable.indexOf('\n') >= 0).findFirst().ifPresent(variable -> {
            throw new Failure(ExitCode.USAGE, "--env: the value of " + variable.split("=", 2)[0]
                    + " has more than one line, which a restarted job cannot receive");
        });
        return variables.isEmpty() ? null : String.join("\n", variables);
    }

    /** NAME=VALUE, of each name the last one. */
    public static List<String> of(Settings settings) {
        Map<String, String> variables = new LinkedHashMap<>();
        for (String variable : settings.text(Option.ENV).split("\n")) {
            int equals = variable.indexOf('=');
            if (!variable.isEmpty() && equals < 1) {
                throw new Failure(ExitCode.USAGE,
                        settings.value(Option.ENV).origin() + ": '" + variable + "' is not NAME=VALUE");
            }
            if (variable.startsWith("UDCKPT_")) {
                throw new Failure(ExitCode.USAGE, settings.value(Option.ENV).origin() + ": "
                        + variable.substring(0, equals) + " configures udckpt itself: set it in the environment of "
                        + "udckpt");
            }
            if (!variable.isEmpty()) {
                variables.put(variable.substring(0, equals), variable);
            }
        }
        List<String> all = List.copyOf(variables.values());
        int bytes = all.stream().mapToInt(variable -> variable.getBytes(StandardCharsets.UTF_8).length + 1).sum();
        if (bytes > NewEnvironment.MOST_BYTES) {
            throw new Failure(ExitCode.USAGE, settings.value(Option.ENV).origin() + ": these variables take " + bytes
                    + " bytes; the limit is " + NewEnvironment.MOST_BYTES);
        }
        return all;
    }
}
