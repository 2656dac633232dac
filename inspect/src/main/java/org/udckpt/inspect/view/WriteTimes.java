package org.udckpt.inspect.view;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;
import org.udckpt.image.ImageError;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.NodeReader;
import org.udckpt.image.write.WriteLatency;

/**
 * How long writes to a stripe file took, in nanoseconds.
 *
 * @param node whose file it is; -1: all together
 * @param stripe its number; -1: all together, of all nodes
 * @param direct whether they went past the page cache; of all: each of them did
 */
public record WriteTimes(int node, int stripe, boolean direct, Histogram nanoseconds) {
    /** The percentiles that are shown. */
    public static final double[] PERCENTILES = {50, 90, 99, 99.9};
    private static final String TABLE = "write-latency";

    /** {@code 99}, {@code 99.9}. */
    public static String label(double percentile) {
        return percentile == Math.rint(percentile) ? Long.toString(Math.round(percentile))
                : Double.toString(percentile);
    }

    /** All together, then each stripe, by node. */
    public static List<WriteTimes> read(CheckpointReader reader) throws IOException {
        List<WriteTimes> times = new ArrayList<>();
        Histogram all = new Histogram(3);
        boolean direct = true;
        for (NodeReader node : reader.nodes()) {
            for (WriteLatency row : node.tableIfThere(TABLE, WriteLatency.class)) { // none where no memory was written
                try {
                    Histogram one = Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(row.histogram()), 0);
                    all.add(one);
                    direct &= row.direct();
                    times.add(new WriteTimes(node.index(), row.stripe(), row.direct(), one));
                } catch (DataFormatException | RuntimeException e) {
                    throw new ImageError.Corrupt(node.file(TABLE), -1, "the histogram of stripe " + row.stripe()
                            + " is malformed", e);
                }
            }
        }
        times.addFirst(new WriteTimes(-1, -1, direct, all));
        return times;
    }
}
