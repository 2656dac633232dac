package org.udckpt.store;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.HdrHistogram.Histogram;

/**
 * The one row of the table {@code stop-times}: how long each rank stood still at each stop of the job's incarnation,
 * this checkpoint's included, in nanoseconds.
 *
 * @param checkpoints stops of the job in this incarnation
 * @param stops of all ranks together
 * @param histogram an HdrHistogram in its compressed V2 encoding ({@code Histogram.decodeFromCompressedByteBuffer})
 */
public record StopTimesRow(long checkpoints, long stops, long median, long percentile99, long max, byte[] histogram) {
    public static StopTimesRow of(long checkpoints, Histogram stops) {
        ByteBuffer encoded = ByteBuffer.allocate(stops.getNeededByteBufferCapacity());
        int size = stops.encodeIntoCompressedByteBuffer(encoded);
        return new StopTimesRow(checkpoints, stops.getTotalCount(), stops.getValueAtPercentile(50),
                stops.getValueAtPercentile(99), stops.getMaxValue(),
                Arrays.copyOf(encoded.array(), size));
    }
}
