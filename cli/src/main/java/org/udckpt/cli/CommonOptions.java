package org.udckpt.cli;

import org.udckpt.support.config.Settings;
import picocli.CommandLine.Option;

/** Flags that every verb takes. */
final class CommonOptions extends MessageOptions {
    @Option(names = "--debug", description = "verbose output, with stack traces")
    private boolean debug;

    /** As {@link #settings(boolean)}. */
    Settings settings() {
        return settings(debug);
    }
}
