package org.udckpt.cli;

import java.util.List;
import org.udckpt.support.config.FilePatterns;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Flags of {@code run} and {@code restart} about the checkpoints that the job will take. */
final class CheckpointOptions {
    @picocli.CommandLine.Option(names = "--interval", paramLabel = "DURATION|auto",
            description = "take a checkpoint each DURATION, e.g. 10m; auto: compute the interval from the cost of "
                    + "checkpoints and --mtbf")
    private String interval;

    @picocli.CommandLine.Option(names = "--mtbf", paramLabel = "DURATION",
            description = "mean time between failures of the whole job, e.g. 12h; implies --interval auto")
    private String mtbf;

    @picocli.CommandLine.Option(names = "--keep", paramLabel = "K",
            description = "keep the newest K checkpoints of the job; default: all")
    private String keep;

    @picocli.CommandLine.Option(names = "--tiers", paramLabel = "fast=DIR,slow=DIR",
            description = "write checkpoints to fast, and copy them to slow while the job runs; replaces --dir")
    private String tiers;

    @picocli.CommandLine.Option(names = "--shared-dir",
            description = "allow checkpoint directories that a group can write to: its members can remove "
                    + "checkpoints and delay new ones, but not read or change them")
    private boolean sharedDir;

    @picocli.CommandLine.Option(names = "--keep-fast", paramLabel = "K", description = "keep the newest K "
            + "checkpoints on fast after they were copied to slow; default: 1")
    private String keepFast;

    @picocli.CommandLine.Option(names = "--max-rate", paramLabel = "BYTES", description = "limit image writes to "
            + "BYTES a second on each node, e.g. 500M")
    private String maxRate;

    @picocli.CommandLine.Option(names = "--io-idle", description = "write images at idle I/O and CPU priority: "
            + "slower, with minimal interference")
    private boolean ioIdle;

    @picocli.CommandLine.Option(names = "--buffer", paramLabel = "BYTES", description = "memory for write buffers; "
            + "default: 256M")
    private String buffer;

    @picocli.CommandLine.Option(names = "--full-interval", paramLabel = "N",
            description = "each N-th checkpoint is a full one, the others are incremental; default: 8 with "
                    + "--interval and without --keep, else 1")
    private String fullInterval;

    @picocli.CommandLine.Option(names = "--compress", paramLabel = "none|zstd[:LEVEL]",
            description = "compress images; default: none")
    private String compress;

    @picocli.CommandLine.Option(names = "--integrity", paramLabel = "gmac|sha256|xxh3", description = "integrity "
            + "protection of memory in images; default: gmac")
    private String integrity;

    @picocli.CommandLine.Option(names = "--write-tracking", negatable = true, description = "incremental checkpoints "
            + "do not read memory that has not been written to, as the kernel says (default, from Linux 6.7 on)")
    private Boolean writeTracking;

    @picocli.CommandLine.Option(names = "--verify-tracking", description = "as --write-tracking, but read it all the "
            + "same, and compare")
    private boolean verifyTracking;

    @picocli.CommandLine.Option(names = "--encrypt", paramLabel = "file:PATH|command:COMMAND",
            description = "encrypt images, and read encrypted images, with the key from a file or a command")
    private String encrypt;

    @picocli.CommandLine.Option(names = "--external-connections", paramLabel = "refuse|close",
            description = "connections to processes outside the job: refuse checkpoints (default), or close them in "
                    + "the image (the running job keeps them)")
    private String externalConnections;

    @picocli.CommandLine.Option(names = "--restart-on-failure", arity = "0..1", paramLabel = "N", fallbackValue = "5",
            preprocessor = OptionalNumber.class,
            description = "restart the job from its newest checkpoint when it fails, at most N times (default: 5) "
                    + "without a new checkpoint in between")
    private Integer restartOnFailure;

    @picocli.CommandLine.Option(names = "--files", paramLabel = "PATTERN",
            description = "also save this file, or this directory with its contents, in each checkpoint (files open "
                    + "for writing are saved anyway); a glob; can be repeated; a restarted job goes on saving the "
                    + "files that the image names")
    private List<String> files;

    @picocli.CommandLine.Option(names = "--files-except", paramLabel = "PATTERN", description = "do not save these "
            + "files, even if they are open for writing or named by --files; can be repeated")
    private List<String> filesExcept;

    @picocli.CommandLine.Option(names = "--files-in-stop", paramLabel = "BYTES", description = "most bytes of files "
            + "that are copied while the job is stopped, on file systems without reflinks; default: 64M")
    private String filesInStop;

    @picocli.CommandLine.Option(names = "--files-limit", paramLabel = "BYTES", description = "most bytes of files in "
            + "a checkpoint; default: 64G")
    private String filesLimit;

    @picocli.CommandLine.Option(names = "--with-libraries", description = "also save the programs and libraries that "
            + "the job maps in each checkpoint: a restart uses those where they are missing or differ (another "
            + "system)")
    private boolean withLibraries;

    @picocli.CommandLine.Option(names = "--replaced-files", paramLabel = "keep|discard",
            description = "a restart restores files to their state at the checkpoint: keep the files that it "
                    + "replaces as NAME.udckpt-rolled-back-ID (default), or discard them")
    private String replacedFiles;

    @picocli.CommandLine.Option(names = "--metrics", paramLabel = "FILE", description = "write the job's metrics to "
            + "this file, in OpenMetrics format (NAME.prom: in Prometheus format)")
    private String metrics;

    @picocli.CommandLine.Option(names = "--metrics-listen", paramLabel = "[ADDRESS:]PORT", description = "serve the "
            + "job's metrics by HTTP; default address: 127.0.0.1")
    private String metricsListen;

    /** Sets one of those that are often given ({@link PlainWords}); false: it is none of them. */
    boolean set(String option, String value) {
        switch (option) {
            case "--interval" -> interval = value;
            case "--keep" -> keep = value;
            case "--tiers" -> tiers = value;
            case "--encrypt" -> encrypt = value;
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Where the job was told to put them; null: it was not. */
    String tiers() {
        return tiers;
    }

    /** Lays those that were given over the settings. */
    Settings over(Settings settings) {
        return settings.flag(Option.INTERVAL, interval).flag(Option.MTBF, mtbf).flag(Option.KEEP, keep)
                .flag(Option.TIERS, tiers).flag(Option.SHARED_DIR, sharedDir ? "true" : null)
                .flag(Option.KEEP_FAST, keepFast)
                .flag(Option.MAX_RATE, maxRate).flag(Option.IO_IDLE, ioIdle ? "true" : null).flag(Option.BUFFER, buffer)
                .flag(Option.FULL_INTERVAL, fullInterval).flag(Option.COMPRESS, compress)
                .flag(Option.WRITE_TRACKING, writeTracking == null ? null : writeTracking.toString())
                .flag(Option.VERIFY_TRACKING, verifyTracking ? "true" : null)
                .flag(Option.INTEGRITY, integrity).flag(Option.ENCRYPT, encrypt)
                .flag(Option.EXTERNAL_CONNECTIONS, externalConnections)
                .flag(Option.RESTART_ON_FAILURE, restartOnFailure == null ? null : restartOnFailure.toString())
                .flag(Option.FILES, joined(files)).flag(Option.FILES_EXCEPT, joined(filesExcept))
                .flag(Option.FILES_IN_STOP, filesInStop).flag(Option.FILES_LIMIT, filesLimit)
                .flag(Option.WITH_LIBRARIES, withLibraries ? "true" : null)
                .flag(Option.REPLACED_FILES, replacedFiles).flag(Option.METRICS, metrics)
                .flag(Option.METRICS_LISTEN, metricsListen);
    }

    /** As a setting has several; null when there is none. */
    private static String joined(List<String> patterns) {
        if (patterns != null && patterns.contains("")) {
            throw new Failure(ExitCode.USAGE, "--files and --files-except need a path or a pattern: the given one is "
                    + "empty");
        }
        return patterns == null ? null : FilePatterns.joined(patterns);
    }
}
