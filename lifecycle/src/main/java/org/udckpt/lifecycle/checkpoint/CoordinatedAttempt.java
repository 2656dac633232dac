package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.udckpt.agent.command.CommandServer.Progress;
import org.udckpt.coordination.protocol.CheckpointOutcome;
import org.udckpt.coordination.protocol.Op;
import org.udckpt.image.Manifest;
import org.udckpt.image.manifest.PartReport;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.image.write.StopTimes;
import org.udckpt.store.CallRow;
import org.udckpt.store.StateTables;
import org.udckpt.support.report.CodedText;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** One try of a lead at a checkpoint: what its nodes have said of it, and what came of it. Thread-safe. */
final class CoordinatedAttempt {
    final CheckpointWriter writer;
    final Progress progress;
    /** When all ranks run again, in {@link System#nanoTime}'s terms. */
    final CompletableFuture<Long> resumed = new CompletableFuture<>();
    final CompletableFuture<CheckpointOutcome> ended = new CompletableFuture<>();
    /** Ends when its manifest is there or cannot be; done while nobody writes it. */
    volatile CompletableFuture<Void> committing = CompletableFuture.completedFuture(null);
    /** No caller waits for it: it must not be committed. */
    volatile boolean unwanted;
    private final List<String> hosts;
    private final Map<Integer, PartReport> reports = new TreeMap<>();
    private final List<CallRow> calls = new ArrayList<>();
    private final Instant takenAt = Instant.now();
    private volatile Manifest manifest;
    private volatile Failure commitFailure;
    /** Its stop is in the incarnation's statistics. */
    private boolean counted;

    /** @param hosts of the units, by number */
    CoordinatedAttempt(CheckpointWriter writer, Progress progress, List<String> hosts) {
        this.writer = writer;
        this.progress = progress;
        this.hosts = hosts;
    }

    /** A unit's part is durable. */
    synchronized void report(PartReport report) {
        reports.put(report.node().index(), report);
    }

    /** All nodes have done what this call asked. */
    synchronized void called(CheckpointOutcome.CallTime call) {
        calls.add(CallTimes.row(call));
    }

    boolean isResumed() {
        return resumed.isDone() && !resumed.isCompletedExceptionally();
    }

    /** The job was stopped for it, whatever comes of it; once. */
    synchronized void countStop(RunStatistics statistics) {
        if (!counted) {
            counted = true;
            statistics.stopped(stops());
        }
    }

    /** Times of the job's phases by the lead's clock: a phase's rounds together. */
    synchronized List<PhaseTime> times() {
        List<PhaseTime> times = new ArrayList<>();
        for (Phase phase : List.of(Phase.SUSPEND, Phase.DRAIN, Phase.SNAPSHOT, Phase.RESUME)) {
            List<CallRow> own =
                    calls.stream().filter(call -> call.call().equals(phase.name().toLowerCase(Locale.ROOT))).toList();
            if (!own.isEmpty()) {
                times.add(new PhaseTime(PhaseTime.JOB, phase, own.stream().mapToLong(CallRow::nanoseconds).sum()));
            }
        }
        return times;
    }

    /**
     * How long each rank stood still, as its own node has measured it; as the lead has, where not all parts are
     * durable.
     */
    synchronized List<Long> stops() {
        return reports.size() == hosts.size()
                ? reports.values().stream().flatMap(report -> report.stops().stream()).toList()
                : StopTimes.ofRanks(times());
    }

    /** Tells what the stop was made of. */
    void tellStop() {
        calls().forEach(call -> progress.say(CallTimes.text(call, hosts)));
    }

    /** What the write took, and the stop. */
    String summary() {
        List<PartReport> all = reports();
        PartReport slowest = all.stream().max(Comparator.comparingLong(PartReport::writeNanos)).orElseThrow();
        PartReport longest = all.stream().max(Comparator.comparingLong(CoordinatedAttempt::stop)).orElseThrow();
        return "write " + Durations.format(manifest.writeNanos()) + on(slowest, "slowest on") + ", "
                + Durations.bytes(manifest.storedBytes())
                + "; stop " + Durations.format(manifest.stopMaxNanos()) + on(longest, "longest on") + ", median "
                + Durations.format(manifest.stopMedianNanos());
    }

    private String on(PartReport report, String which) {
        return hosts.size() == 1 ? "" : " (" + which + " " + hosts.get(report.node().index()) + ")";
    }

    private static long stop(PartReport report) {
        return report.stops().stream().mapToLong(Long::longValue).max().orElse(0);
    }

    /** Makes it exist; {@link #failure} says why it does not, if this throws. @param tables of the whole job */
    void commit(CoordinatedCheckpoints.JobTables tables, RunStatistics statistics, int ranks,
            Map<String, String> labels) throws IOException {
        for (PartReport report : reports()) {
            writer.add(report);
        }
        countStop(statistics);
        tables.write(writer, statistics.row());
        StateTables.writeCalls(writer, calls());
        writer.statistics(times());
        manifest = writer.commit(new CheckpointInfo(ranks, takenAt, "x86_64", labels));
    }

    private synchronized List<PartReport> reports() {
        return List.copyOf(reports.values());
    }

    private synchronized List<CallRow> calls() {
        return List.copyOf(calls);
    }

    /** The manifest cannot be written. */
    void failed(Failure failure) {
        commitFailure = failure;
    }

    /** The manifest of a complete checkpoint. */
    Manifest manifest() {
        return manifest;
    }

    /** Why nothing came of it. @param otherwise the code of a reason that has none */
    Failure failure(CheckpointOutcome outcome, ExitCode otherwise) {
        if (commitFailure != null) {
            return commitFailure;
        }
        var failed = outcome.calls().reversed().stream().map(call -> call.tally().failure()).filter(Objects::nonNull)
                .findFirst();
        String what = "checkpoint " + writer.name() + ": ";
        return failed.map(node -> CodedText.parse(what + "node " + node.node() + ": ", node.text(), ExitCode.IO))
                .orElseGet(() -> CodedText.parse(what, outcome.why(), otherwise));
    }
}
