package org.udckpt.lifecycle.checkpoint;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.udckpt.image.write.WriteMeter;
import org.udckpt.store.StopTimesRow;

/**
 * What the checkpoints of one incarnation of a job took: each rank's stops, and each write to a stripe file.
 * Thread-safe.
 */
public final class RunStatistics {
    private static final int DIGITS = 3;

    private final Histogram stops = new Histogram(DIGITS);
    private final Histogram writes = new Histogram(DIGITS);
    private long stopped;
    private long complete;

    /**
     * The job was stopped and runs again; whether an image comes of it is not known yet.
     *
     * @param ranks how long each stood still, in nanoseconds
     */
    synchronized void stopped(List<Long> ranks) {
        stopped++;
        ranks.forEach(stops::recordValue);
    }

    /** An image that other processes have written, whose writes are theirs to count. */
    synchronized void complete() {
        complete++;
    }

    synchronized void complete(WriteMeter meter) {
        complete();
        meter.addLatencies(writes);
    }

    /** All stops so far, for the image. */
    synchronized StopTimesRow row() {
        return StopTimesRow.of(stopped, stops);
    }

    public synchronized void describe(ObjectNode node) {
        node.put("stops", stopped).put("complete", complete);
        percentiles(node.putObject("stop_ms"), stops);
        percentiles(node.putObject("chunk_write_ms"), writes);
    }

    /** In milliseconds, of a histogram of nanoseconds. */
    private static void percentiles(ObjectNode node, Histogram histogram) {
        node.put("count", histogram.getTotalCount());
        if (histogram.getTotalCount() > 0) {
            for (double percentile : new double[]{50, 90, 99, 99.9}) {
                node.put("p" + (percentile == Math.rint(percentile) ? Long.toString((long) percentile)
                        : Double.toString(percentile)), histogram.getValueAtPercentile(percentile) / 1e6);
            }
            node.put("mean", histogram.getMean() / 1e6).put("max", histogram.getMaxValue() / 1e6);
        }
    }
}
