package org.udckpt.cli;

import java.util.concurrent.Callable;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code udckpt config show}: each setting's value and where it came from. */
@Command(name = "config", description = "Show the settings in effect.", subcommands = ConfigCommand.Show.class)
final class ConfigCommand {
    @picocli.CommandLine.Option(names = {"-h", "--help"}, usageHelp = true, description = "show this help")
    private boolean help;

    @Command(name = "show", description = "Print each value with its origin.")
    static final class Show implements Callable<Integer> {
        @Mixin
        private CommonOptions common;

        @Override
        public Integer call() {
            Settings settings = common.settings();
            for (Option option : Option.values()) {
                Settings.Value value = settings.value(option);
                System.out.printf("%-16s = %-24s # %s; %s%n", option.key(), value.text(), value.origin(),
                        option.help());
            }
            return 0;
        }
    }
}
