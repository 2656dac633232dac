package org.udckpt.lifecycle.metrics;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.udckpt.image.Manifest;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.PhaseTime;

/**
 * What this process's job has come to, over all incarnations that it has had in this process; from 0, as counters of
 * OpenMetrics are. Thread-safe.
 */
public final class JobCounters {
    private static final double[] STOP_BOUNDS = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10};
    private static final double[] WRITE_BOUNDS = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000};
    private static final JobCounters OF_THIS_PROCESS = new JobCounters(); // which has one job; after what it is made of

    private final Distribution stops = new Distribution(STOP_BOUNDS);
    private final Distribution writes = new Distribution(WRITE_BOUNDS);
    private final Map<Phase, Distribution> phases = new EnumMap<>(Phase.class);
    private long taken;
    private long failed;
    private long memoryBytes;
    private long storedBytes;
    private long jobFailures;
    private double lastTakenAt;
    private double lastRate;

    /**
     * All of it at one moment.
     *
     * @param memoryBytes of complete checkpoints, as {@code storedBytes}
     * @param stops seconds that a rank stood still, each rank's for each checkpoint
     * @param writes seconds from the job's going on to a durable image
     * @param phases by phase, seconds of each rank, or of the job where it has no other
     * @param jobFailures failures of the job after which it was restarted
     * @param lastTakenAt seconds since 1970; 0: none yet
     * @param lastRate bytes of memory a second of the last write; 0: none yet
     */
    record Sums(long taken, long failed, long memoryBytes, long storedBytes, Distribution.Sums stops,
            Distribution.Sums writes, Map<Phase, Distribution.Sums> phases,
            long jobFailures, double lastTakenAt, double lastRate) {}

    JobCounters() {
        for (Phase phase : EnumSet.complementOf(EnumSet.of(Phase.WAIT))) { // which is one node's, not the job's
            phases.put(phase, new Distribution());
        }
    }

    public static JobCounters ofThisProcess() {
        return OF_THIS_PROCESS;
    }

    /**
     * A checkpoint is complete.
     *
     * @param times of its stop
     * @param ranks how long each stood still, in nanoseconds
     * @param writeNanos until it was durable
     */
    public synchronized void taken(Manifest manifest, List<PhaseTime> times, List<Long> ranks, long writeNanos) {
        taken++;
        memoryBytes += manifest.bytes();
        storedBytes += manifest.storedBytes();
        lastTakenAt = manifest.takenAt().toEpochMilli() / 1e3;
        lastRate = manifest.bytes() * 1e9 / Math.max(1, writeNanos);
        ranks.forEach(stops::add);
        times.forEach(time -> phases.get(time.phase()).add(time.nanoseconds()));
        phases.get(Phase.WRITE).add(manifest.writeNanos());
        phases.get(Phase.COMMIT).add(Math.max(0, writeNanos - manifest.writeNanos()));
        writes.add(writeNanos);
    }

    /** One was begun, and none came of it. */
    public synchronized void failed() {
        failed++;
    }

    /** The job failed, and is to be restarted, if it can be. */
    public synchronized void runFailed() {
        jobFailures++;
    }

    synchronized Sums sums() {
        Map<Phase, Distribution.Sums> byPhase = new EnumMap<>(Phase.class);
        phases.forEach((phase, distribution) -> byPhase.put(phase, distribution.sums()));
        return new Sums(taken, failed, memoryBytes, storedBytes, stops.sums(), writes.sums(), byPhase, jobFailures,
                lastTakenAt, lastRate);
    }
}
