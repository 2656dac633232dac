package org.udckpt.lifecycle.metrics;

import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Unit;
import java.util.Map;

/**
 * A family of metrics, still without values.
 *
 * @param name with its unit, without what its kind appends (_total)
 * @param unit null: it counts things
 */
record Family(String name, String help, Unit unit) {
    static Family of(String name, String help) {
        return new Family(name, help, null);
    }

    static Family seconds(String name, String help) {
        return new Family(name + "_seconds", help, Unit.SECONDS);
    }

    static Family bytes(String name, String help) {
        return new Family(name + "_bytes", help, Unit.BYTES);
    }

    MetricSnapshot counter(Labels labels, double value) {
        return counter(Map.of(labels, value));
    }

    MetricSnapshot counter(Map<Labels, Double> values) {
        CounterSnapshot.Builder builder = CounterSnapshot.builder().name(name).help(help).unit(unit);
        values.forEach((labels, value) -> builder
                .dataPoint(CounterDataPointSnapshot.builder().labels(labels).value(value).build()));
        return builder.build();
    }

    MetricSnapshot gauge(Labels labels, double value) {
        return GaugeSnapshot.builder().name(name).help(help).unit(unit)
                .dataPoint(GaugeDataPointSnapshot.builder().labels(labels).value(value).build()).build();
    }

    MetricSnapshot histogram(Labels labels, Distribution.Sums sums) {
        ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
        for (int i = 0; i < sums.counts().length; i++) {
            buckets.bucket(sums.bounds()[i], sums.counts()[i]);
        }
        HistogramDataPointSnapshot.Builder point =
                HistogramDataPointSnapshot.builder().classicHistogramBuckets(buckets.build());
        point.labels(labels).sum(sums.sum());
        return HistogramSnapshot.builder().name(name).help(help).unit(unit).dataPoint(point.build()).build();
    }

    MetricSnapshot summary(Map<Labels, Distribution.Sums> values) {
        SummarySnapshot.Builder builder = SummarySnapshot.builder().name(name).help(help).unit(unit);
        values.forEach((labels, sums) -> {
            SummaryDataPointSnapshot.Builder point = SummaryDataPointSnapshot.builder().count(sums.count());
            point.labels(labels).sum(sums.sum());
            builder.dataPoint(point.build());
        });
        return builder.build();
    }
}
