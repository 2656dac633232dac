package org.udckpt.cli;

import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Messages;
import picocli.CommandLine.Option;

/** Flags of every verb but {@code --debug}, which means more to some ({@link CommonOptions}). */
class MessageOptions {
    @Option(names = "--log-json", description = "write udckpt's own messages as JSON lines")
    private boolean logJson;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "show this help")
    private boolean help;

    /**
     * Applies them and reads the settings, with their warnings.
     *
     * @param traces of stacks are wanted, and what normally goes without saying
     */
    Settings settings(boolean traces) {
        Messages.configure(logJson, traces);
        Settings settings = Settings.load();
        settings.warnings().forEach(Messages::warn);
        return settings;
    }
}
