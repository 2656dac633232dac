package org.udckpt.job.cli;

import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;

/** Flags of {@code run} and {@code restart} about the checkpoints that the job will take. */
final class CheckpointOptions {
    @picocli.CommandLine.Option(names = "--interval", paramLabel = "DURATION|auto",
            description = "take a checkpoint each DURATION, e.g. 10m; auto: as often as pays, by their cost and --mtbf")
    private String interval;

    @picocli.CommandLine.Option(names = "--mtbf", paramLabel = "DURATION", description = "mean time between failures of the whole job, e.g. 12h; implies --interval auto")
    private String mtbf;

    @picocli.CommandLine.Option(names = "--keep", paramLabel = "K", description = "keep the newest K checkpoints; default: all")
    private String keep;

    @picocli.CommandLine.Option(names = "--max-rate", paramLabel = "BYTES", description = "write images with at most so many bytes a second and node, e.g. 500M")
    private String maxRate;

    @picocli.CommandLine.Option(names = "--io-idle", description = "write images only with what storage and processors have left: longer, and hardly felt by the job")
    private boolean ioIdle;

    @picocli.CommandLine.Option(names = "--buffer", paramLabel = "BYTES", description = "memory for pages on their way to storage; default: 256M")
    private String buffer;

    /** Lays those that were given over the settings. */
    Settings over(Settings settings) {
        return settings.flag(Option.INTERVAL, interval).flag(Option.MTBF, mtbf).flag(Option.KEEP, keep)
                .flag(Option.MAX_RATE, maxRate).flag(Option.IO_IDLE, ioIdle ? "true" : null).flag(Option.BUFFER, buffer);
    }
}
