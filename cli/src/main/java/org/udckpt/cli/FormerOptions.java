package org.udckpt.cli;

import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Options by the names that they had in earlier versions: they go on working, and no help shows them. */
final class FormerOptions {
    static final Map<String, String> NAMES = Map.of("--full-every", "--full-interval", "--outside",
            "--external-connections", "--rolled-back", "--replaced-files", "--lease", "--heartbeat-timeout", "--map",
            "--move-host", "--directory", "--workdir");

    private FormerOptions() {}

    /** Adds those whose present options a verb has. */
    static void install(CommandLine verb) {
        CommandSpec spec = verb.getCommandSpec();
        NAMES.forEach((former, name) -> {
            OptionSpec option = spec.findOption(name);
            if (option != null) {
                spec.addOption(option.toBuilder().names(former).hidden(true).build());
            }
        });
    }
}
