package org.udckpt.job.cli;

import org.udckpt.job.config.Settings;
import org.udckpt.job.report.Messages;
import picocli.CommandLine.Option;

/** Flags that every verb takes. */
final class CommonOptions {
    @Option(names = "--debug", description = "print stack traces and what normally goes without saying")
    private boolean debug;

    @Option(names = "--log-json", description = "udckpt's own messages as JSON lines")
    private boolean logJson;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "show this help")
    private boolean help;

    /** Applies them and reads the settings, with their warnings. */
    Settings settings() {
        Messages.configure(logJson, debug);
        Settings settings = Settings.load();
        settings.warnings().forEach(Messages::warn);
        return settings;
    }
}
