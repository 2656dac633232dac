package org.udckpt.lifecycle.metrics;

import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.StateSetSnapshot;
import io.prometheus.metrics.model.snapshots.StateSetSnapshot.StateSetDataPointSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.udckpt.address.CountersFile.Counters;
import org.udckpt.image.write.Phase;
import org.udckpt.support.report.WriteProgress;

/**
 * A job's metrics at the moment when they are asked for; docs/operator/metrics.md has what each means. Each carries the
 * job's name.
 */
public final class JobMetrics {
    static final String RUNNING = "running";
    static final String ENDED = "ended";
    private static final String NAME = "name";

    private final MetricsSource job;
    private final JobCounters tally = JobCounters.ofThisProcess();
    private final Labels labels;

    public JobMetrics(MetricsSource job) {
        this.job = job;
        this.labels = Labels.of(NAME, job.name());
    }

    MetricSnapshots now() {
        return of(job.state());
    }

    /** The last that there is to say. */
    MetricSnapshots atEnd() {
        return of(ENDED);
    }

    private MetricSnapshots of(String present) {
        List<MetricSnapshot> all = new ArrayList<>();
        JobCounters.Sums sums = tally.sums();
        job(all, sums, present);
        checkpoints(all, sums);
        underWay(all);
        messages(all, job.messages());
        return new MetricSnapshots(all);
    }

    private void job(List<MetricSnapshot> all, JobCounters.Sums sums, String present) {
        all.add(InfoSnapshot.builder().name("udckpt_job").help("The job's "
                + "name.").dataPoint(InfoDataPointSnapshot.builder()
                        .labels(labels.add("directory", job.directory().toString()).add("program",
                                String.join(" ", job.command())))
                        .build())
                .build());
        all.add(states(present));
        all.add(Family.of("udckpt_ranks", "Ranks, or in a tree processes with a verbs device, that are alive.")
                .gauge(labels, present.equals(ENDED) ? 0 : job.ranks()));
        all.add(Family.of("udckpt_restarts", "Restarts of the job since its first incarnation.").counter(labels,
                job.generation()));
        all.add(Family.of("udckpt_failures", "Failures of the job after which this agent restarted "
                + "it.").counter(labels, sums.jobFailures()));
    }

    private MetricSnapshot states(String present) {
        StateSetDataPointSnapshot.Builder states = StateSetDataPointSnapshot.builder().labels(labels);
        Stream.concat(Stream.of(RUNNING, ENDED),
                Arrays.stream(Phase.values()).filter(phase -> phase != Phase.WAIT).map(JobMetrics::word))
                .forEach(each -> states.state(each, each.equals(present)));
        return StateSetSnapshot.builder().name("udckpt_state").help("State of the job: running, or the phase of a "
                + "checkpoint.").dataPoint(states.build()).build();
    }

    private static String word(Phase phase) {
        return phase.name().toLowerCase(Locale.ROOT);
    }

    private void checkpoints(List<MetricSnapshot> all, JobCounters.Sums sums) {
        all.add(Family.of("udckpt_checkpoints", "Complete checkpoints.").counter(labels, sums.taken()));
        all.add(Family.of("udckpt_checkpoint_failures", "Checkpoints that failed after their start; the job "
                + "continued.").counter(labels, sums.failed()));
        all.add(Family.bytes("udckpt_checkpoint_memory", "Memory in complete checkpoints.").counter(labels,
                sums.memoryBytes()));
        all.add(Family.bytes("udckpt_checkpoint_stored", "Bytes written for complete checkpoints, removed ones "
                + "included.").counter(labels, sums.storedBytes()));
        all.add(Family.seconds("udckpt_stop", "Time for which each rank was stopped in each "
                + "checkpoint.").histogram(labels, sums.stops()));
        all.add(Family.seconds("udckpt_write", "Time from the resume of the job to the durable "
                + "image.").histogram(labels, sums.writes()));
        Map<Labels, Distribution.Sums> phases = new LinkedHashMap<>();
        sums.phases().forEach((phase, times) -> phases.put(labels.add("phase", word(phase)), times));
        all.add(Family.seconds("udckpt_phase", "Phases of checkpoints.").summary(phases));
        if (sums.taken() > 0) {
            all.add(Family.seconds("udckpt_last_checkpoint_timestamp", "Unix time of the stop of the newest complete "
                    + "checkpoint.").gauge(labels, sums.lastTakenAt()));
            all.add(Family.of("udckpt_last_write_bytes_per_second", "Memory of the newest complete checkpoint "
                    + "divided by its write time.").gauge(labels, sums.lastRate()));
        }
    }

    private void underWay(List<MetricSnapshot> all) {
        Optional<WriteProgress> write = job.writing();
        all.add(Family.bytes("udckpt_write_pending", "Memory of the current checkpoint that is not written "
                + "yet.").gauge(labels, write.map(now -> now.bytes() - now.bytesDone()).orElse(0L)));
        all.add(Family.bytes("udckpt_memory_missing", "Memory of the restarted job that is not read from its "
                + "checkpoint yet.").gauge(labels, job.missing()));
        job.flush().ifPresent(now -> {
            all.add(Family.bytes("udckpt_drain_pending", "Bytes of the current copy to the slow tier that are not "
                    + "copied and read back yet.").gauge(labels, now.total() - now.done()));
            all.add(Family.of("udckpt_drain_failing", "1: the last copy to the slow tier failed and is "
                    + "retried.").gauge(labels, now.problem().isEmpty() ? 0 : 1));
        });
    }

    private void messages(List<MetricSnapshot> all, Counters counted) {
        Map<Labels, Double> sends = new LinkedHashMap<>();
        sends.put(labels.add("transport", "UD"), (double) counted.udSends());
        sends.put(labels.add("transport", "RC"), (double) counted.rcSends());
        all.add(Family.of("udckpt_sends", "Work requests sent in this incarnation.").counter(sends));
        all.add(Family.of("udckpt_sends_rewritten", "UD sends whose address was translated.").counter(labels,
                counted.udRewrites()));
        all.add(Family.of("udckpt_receives", "UD receives in this incarnation.").counter(labels, counted.udReceives()));
        all.add(Family.of("udckpt_cache_misses", "Sends whose address was not in their address handle's cache.")
                .counter(labels, counted.cacheMisses()));
        all.add(Family.of("udckpt_table_misses", "Sends whose address was looked up at the agent, because the "
                + "translation table did not have it.").counter(labels, counted.tableMisses()));
        all.add(Family.of("udckpt_unknown_peers", "Sends to addresses that do not exist in the job.").counter(labels,
                counted.unknownPeers()));
        all.add(Family.of("udckpt_refused", "Datagrams and packets that the soft fabric dropped: forged sender, "
                + "sender outside the job, or replayed.").counter(labels, counted.refused()));
    }
}
