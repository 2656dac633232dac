package org.udckpt.lifecycle.metrics;

import java.util.Optional;
import java.util.function.Supplier;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;

/** Where a job's metrics go: nowhere, to a file, to whoever asks. Closed after all that they tell of. */
@SuppressWarnings("try") // close() waits for what is under way, and whoever closes may be interrupted
public final class MetricsOutputs implements AutoCloseable {
    private final Settings settings;
    private Optional<MetricsFile> file = Optional.empty();
    private Optional<MetricsEndpoint> endpoint = Optional.empty();

    /** @param settings checked by {@link #check} */
    public MetricsOutputs(Settings settings) {
        this.settings = settings;
    }

    /** Says what is wrong with the settings, before anything is started. */
    public static void check(Settings settings) {
        if (!settings.text(Option.METRICS).isEmpty()) {
            MetricsFile.check(settings);
        }
        if (!settings.text(Option.METRICS_LISTEN).isEmpty()) {
            MetricsEndpoint.check(settings);
        }
    }

    /**
     * From now on.
     *
     * @param metrics made when they are wanted
     */
    public void open(Supplier<JobMetrics> metrics) {
        if (settings.text(Option.METRICS).isEmpty() && settings.text(Option.METRICS_LISTEN).isEmpty()) {
            return;
        }
        JobMetrics made = metrics.get();
        file = MetricsFile.open(settings, made);
        endpoint = MetricsEndpoint.open(settings, made);
    }

    @Override
    public void close() throws InterruptedException {
        endpoint.ifPresent(MetricsEndpoint::close);
        if (file.isPresent()) {
            file.get().close();
        }
    }
}
