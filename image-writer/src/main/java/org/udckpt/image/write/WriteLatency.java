package org.udckpt.image.write;

import java.util.Objects;

/**
 * A row of the table {@code write-latency}: how long the writes to one stripe file took, in nanoseconds.
 *
 * @param direct    whether the writes went past the page cache; the file system decides
 * @param histogram an HdrHistogram in its compressed V2 encoding ({@code Histogram.decodeFromCompressedByteBuffer})
 */
public record WriteLatency(int stripe, boolean direct, long writes, long median, long percentile99, long max,
        byte[] histogram) {
    public WriteLatency {
        Objects.requireNonNull(histogram, "no histogram");
    }
}
