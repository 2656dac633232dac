package org.udckpt.job.cli;

import org.udckpt.job.config.Settings;
import picocli.CommandLine.Option;

/** Flags that every verb takes. */
final class CommonOptions extends MessageOptions {
    @Option(names = "--debug", description = "print stack traces and what normally goes without saying")
    private boolean debug;

    /** As {@link #settings(boolean)}. */
    Settings settings() {
        return settings(debug);
    }
}
