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

    /** Lays those that were given over the settings. */
    Settings over(Settings settings) {
        return settings.flag(Option.INTERVAL, interval).flag(Option.MTBF, mtbf).flag(Option.KEEP, keep);
    }
}
