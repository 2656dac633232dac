package org.udckpt.lifecycle.metrics;

import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NewFile;
import org.udckpt.linux.Trust;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * A file that always has a job's metrics: written anew every few seconds, beside, and then put in place, so that
 * readers see all or nothing.
 */
@SuppressWarnings("try") // close() waits for what is under way, and whoever closes may be interrupted
public final class MetricsFile implements AutoCloseable {
    private static final long PERIOD_SECONDS = 5;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    // the only one that the node exporter's textfile collector reads
    private static final String PROMETHEUS_SUFFIX = ".prom";

    private final Path file;
    private final JobMetrics metrics;
    private final ExpositionFormatWriter format;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;
    private boolean failing;

    private MetricsFile(Path file, JobMetrics metrics) {
        this.file = file;
        this.metrics = metrics;
        this.format = file.toString().endsWith(PROMETHEUS_SUFFIX) ? PrometheusTextFormatWriter.create()
                : OpenMetricsTextFormatWriter.create();
        this.thread = Thread.ofPlatform().daemon().name("metrics-file").unstarted(this::run);
    }

    /** That it can be written, while it still may end the start of a job. */
    static void check(Settings settings) {
        Path file = Path.of(settings.text(Option.METRICS)).toAbsolutePath();
        try (Folder folder = open(file); NewFile _ = NewFile.visibleBeside(folder, name(file))) {
            Files.Stat there = folder.stat(name(file));
            if (there != null && there.type() == Files.Stat.DIRECTORY) {
                throw bad(settings);
            }
        } catch (LinuxError e) {
            throw e.errno() == LinuxError.ENOENT || e.errno() == LinuxError.ENOTDIR ? bad(settings)
                    : Failure.of("writing the metrics to " + file, e);
        }
    }

    private static Failure bad(Settings settings) {
        return settings.bad(Option.METRICS, "a file in a writable directory");
    }

    /** Once each time: others may have rights in a directory of metrics, and it may be another one tomorrow. */
    private static Folder open(Path file) {
        return Folder.reach(file.getParent().toString(), Trust.ANY);
    }

    private static String name(Path file) {
        return file.getFileName().toString();
    }

    /** Empty when none is wanted. */
    public static Optional<MetricsFile> open(Settings settings, JobMetrics metrics) {
        String name = settings.text(Option.METRICS);
        if (name.isEmpty()) {
            return Optional.empty();
        }
        MetricsFile opened = new MetricsFile(Path.of(name).toAbsolutePath(), metrics);
        opened.tryToWrite(metrics::now);
        opened.thread.start();
        return Optional.of(opened);
    }

    private void run() {
        try {
            while (!closed.await(PERIOD_SECONDS, TimeUnit.SECONDS)) {
                tryToWrite(metrics::now);
            }
        } catch (InterruptedException e) {
            Messages.error("metrics are no longer written to " + file + ": the thread was interrupted", e);
        }
    }

    /** The job goes on without; said once, until it succeeds again. */
    private void tryToWrite(Supplier<MetricSnapshots> snapshots) {
        try {
            write(snapshots.get());
            failing = false;
        } catch (IOException | RuntimeException e) {
            if (!failing) {
                Messages.warn("metrics could not be written to " + file + ": " + e + "; retrying every "
                        + PERIOD_SECONDS + " s");
            }
            failing = true;
        }
    }

    private void write(MetricSnapshots snapshots) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        format.write(text, snapshots);
        try (Folder folder = open(file); NewFile next = NewFile.visibleBeside(folder, name(file))) {
            try (FileChannel channel = Files.channel(next.descriptor(), StandardOpenOption.WRITE)) {
                for (ByteBuffer bytes = ByteBuffer.wrap(text.toByteArray()); bytes.hasRemaining();) {
                    channel.write(bytes);
                }
            }
            next.replaces(name(file));
        }
    }

    /** Leaves the last word, with the state "ended"; not where the file system does not answer. */
    @Override
    public void close() throws InterruptedException {
        closed.countDown();
        if (thread.join(TIMEOUT)) {
            tryToWrite(metrics::atEnd);
        } else {
            Messages.warn("the last metrics are missing in " + file + ": writing it takes more than "
                    + TIMEOUT.toSeconds() + " s");
        }
    }
}
