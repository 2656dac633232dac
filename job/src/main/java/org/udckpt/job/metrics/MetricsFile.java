package org.udckpt.job.metrics;

import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;

/** A file that always has a job's metrics: written anew every few seconds, beside, and then put in place, so that readers see all or nothing. */
public final class MetricsFile implements AutoCloseable {
    private static final long PERIOD_SECONDS = 5;
    private static final String PROMETHEUS_SUFFIX = ".prom"; // the only one that the node exporter's textfile collector reads

    private final Path file;
    private final JobMetrics metrics;
    private final ExpositionFormatWriter format;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;
    private boolean failing;

    private MetricsFile(Path file, JobMetrics metrics) {
        this.file = file;
        this.metrics = metrics;
        this.format = file.toString().endsWith(PROMETHEUS_SUFFIX) ? PrometheusTextFormatWriter.create() : OpenMetricsTextFormatWriter.create();
        this.thread = Thread.ofPlatform().daemon().name("metrics-file").unstarted(this::run);
    }

    /** That it can be written. */
    static void check(Settings settings) {
        Path file = Path.of(settings.text(Option.METRICS)).toAbsolutePath();
        if (Files.isDirectory(file) || !Files.isDirectory(file.getParent()) || !Files.isWritable(file.getParent())) {
            throw settings.bad(Option.METRICS, "a file in a directory that can be written");
        }
    }

    /** Begins with a first version; empty when none is wanted. @throws Failure when it cannot be written */
    public static Optional<MetricsFile> open(Settings settings, JobMetrics metrics) {
        String name = settings.text(Option.METRICS);
        if (name.isEmpty()) {
            return Optional.empty();
        }
        MetricsFile opened = new MetricsFile(Path.of(name).toAbsolutePath(), metrics);
        try {
            opened.write(metrics.now());
        } catch (IOException e) {
            throw Failure.of("writing the metrics to " + opened.file, e);
        }
        opened.thread.start();
        return Optional.of(opened);
    }

    private void run() {
        try {
            while (!closed.await(PERIOD_SECONDS, TimeUnit.SECONDS)) {
                tryToWrite(metrics.now());
            }
        } catch (InterruptedException e) {
            Messages.error("no more metrics in " + file + ": the thread was interrupted", e);
        }
    }

    /** The job goes on without; said once, until it succeeds again. */
    private void tryToWrite(MetricSnapshots snapshots) {
        try {
            write(snapshots);
            failing = false;
        } catch (IOException e) {
            if (!failing) {
                Messages.warn("metrics could not be written to " + file + ": " + e + "; tried again each " + PERIOD_SECONDS + " s");
            }
            failing = true;
        }
    }

    private void write(MetricSnapshots snapshots) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        format.write(text, snapshots);
        Path next = file.resolveSibling("." + file.getFileName() + "." + ProcessHandle.current().pid());
        try {
            Files.write(next, text.toByteArray());
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(next);
        }
    }

    /** Leaves the last word, with the state "ended". */
    @Override
    public void close() throws InterruptedException {
        closed.countDown();
        thread.join();
        tryToWrite(metrics.atEnd());
    }
}
