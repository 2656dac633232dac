package org.udckpt.job.cli;

import java.util.List;
import org.udckpt.job.config.FilePatterns;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;

/** Flags of {@code run} and {@code restart} about the checkpoints that the job will take. */
final class CheckpointOptions {
    @picocli.CommandLine.Option(names = "--interval", paramLabel = "DURATION|auto",
            description = "take a checkpoint each DURATION, e.g. 10m; auto: as often as pays, by their cost and --mtbf")
    private String interval;

    @picocli.CommandLine.Option(names = "--mtbf", paramLabel = "DURATION", description = "mean time between failures of the whole job, e.g. 12h; implies --interval auto")
    private String mtbf;

    @picocli.CommandLine.Option(names = "--keep", paramLabel = "K", description = "keep the newest K checkpoints of the job; default: all")
    private String keep;

    @picocli.CommandLine.Option(names = "--tiers", paramLabel = "fast=DIR,slow=DIR",
            description = "write checkpoints to fast, and copy them to slow while the job runs; in place of --dir")
    private String tiers;

    @picocli.CommandLine.Option(names = "--shared-dir",
            description = "allow directories of checkpoints that others of a group can write to: they can remove checkpoints and hold up new ones, but neither read nor change them")
    private boolean sharedDir;

    @picocli.CommandLine.Option(names = "--keep-fast", paramLabel = "K", description = "keep the newest K checkpoints on fast once they are on slow; default: 1")
    private String keepFast;

    @picocli.CommandLine.Option(names = "--max-rate", paramLabel = "BYTES", description = "write images with at most so many bytes a second and node, e.g. 500M")
    private String maxRate;

    @picocli.CommandLine.Option(names = "--io-idle", description = "write images only with what storage and processors have left: longer, and hardly felt by the job")
    private boolean ioIdle;

    @picocli.CommandLine.Option(names = "--buffer", paramLabel = "BYTES", description = "memory for pages on their way to storage; default: 256M")
    private String buffer;

    @picocli.CommandLine.Option(names = "--full-every", paramLabel = "N",
            description = "each N-th checkpoint holds everything, the others what changed since; default: 8 with --interval and without --keep, else 1")
    private String fullEvery;

    @picocli.CommandLine.Option(names = "--compress", paramLabel = "none|zstd[:LEVEL]", description = "compress images; default: none")
    private String compress;

    @picocli.CommandLine.Option(names = "--integrity", paramLabel = "gmac|sha256|xxh3", description = "what protects memory in images; default: gmac")
    private String integrity;

    @picocli.CommandLine.Option(names = "--encrypt", paramLabel = "file:PATH|command:COMMAND",
            description = "encrypt images (and read encrypted ones) with the key that a file or a command gives")
    private String encrypt;

    @picocli.CommandLine.Option(names = "--outside", paramLabel = "refuse|close",
            description = "connections to processes outside of the job: refuse checkpoints (default), or close them in the image; the running job keeps them")
    private String outside;

    @picocli.CommandLine.Option(names = "--restart-on-failure", arity = "0..1", paramLabel = "N", fallbackValue = "5", preprocessor = OptionalNumber.class,
            description = "restart the job from its newest checkpoint when it fails, N times at most (default: 5) without getting further")
    private Integer restartOnFailure;

    @picocli.CommandLine.Option(names = "--files", paramLabel = "PATTERN",
            description = "a file, or a directory with all in it, that is part of each checkpoint, besides the files open for writing; a glob, can be given again; a restart saves what the image names")
    private List<String> files;

    @picocli.CommandLine.Option(names = "--files-except", paramLabel = "PATTERN", description = "files that are not part of checkpoints, although open or named; can be given again")
    private List<String> filesExcept;

    @picocli.CommandLine.Option(names = "--files-in-stop", paramLabel = "BYTES", description = "how much of them may be copied while the job stands still, where there are no reflinks; default: 64M")
    private String filesInStop;

    @picocli.CommandLine.Option(names = "--files-limit", paramLabel = "BYTES", description = "how much they may have together; default: 64G")
    private String filesLimit;

    @picocli.CommandLine.Option(names = "--rolled-back", paramLabel = "keep|discard",
            description = "a restart puts files back to what they were: keep those that it replaces beside, as NAME.udckpt-rolled-back-ID (default), or discard them")
    private String rolledBack;

    @picocli.CommandLine.Option(names = "--metrics", paramLabel = "FILE", description = "keep the job's metrics in this file, as OpenMetrics (NAME.prom: as Prometheus has it)")
    private String metrics;

    @picocli.CommandLine.Option(names = "--metrics-listen", paramLabel = "[ADDRESS:]PORT", description = "answer HTTP requests for the job's metrics; default address: 127.0.0.1")
    private String metricsListen;

    /** Where the job was told to put them; null: it was not. */
    String tiers() {
        return tiers;
    }

    /** Lays those that were given over the settings. */
    Settings over(Settings settings) {
        return settings.flag(Option.INTERVAL, interval).flag(Option.MTBF, mtbf).flag(Option.KEEP, keep)
                .flag(Option.TIERS, tiers).flag(Option.SHARED_DIR, sharedDir ? "true" : null).flag(Option.KEEP_FAST, keepFast)
                .flag(Option.MAX_RATE, maxRate).flag(Option.IO_IDLE, ioIdle ? "true" : null).flag(Option.BUFFER, buffer)
                .flag(Option.FULL_EVERY, fullEvery).flag(Option.COMPRESS, compress).flag(Option.INTEGRITY, integrity).flag(Option.ENCRYPT, encrypt).flag(Option.OUTSIDE, outside)
                .flag(Option.RESTART_ON_FAILURE, restartOnFailure == null ? null : restartOnFailure.toString())
                .flag(Option.FILES, joined(files)).flag(Option.FILES_EXCEPT, joined(filesExcept)).flag(Option.FILES_IN_STOP, filesInStop).flag(Option.FILES_LIMIT, filesLimit)
                .flag(Option.ROLLED_BACK, rolledBack).flag(Option.METRICS, metrics).flag(Option.METRICS_LISTEN, metricsListen);
    }

    /** As a setting has several; null when there is none. */
    private static String joined(List<String> patterns) {
        if (patterns != null && patterns.contains("")) {
            throw new Failure(ExitCode.USAGE, "--files and --files-except want a path or a pattern, not an empty text");
        }
        return patterns == null ? null : FilePatterns.joined(patterns);
    }
}
