package org.udckpt.image.write;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.HdrHistogram.Histogram;
import org.udckpt.image.ImageError;
import org.udckpt.image.Manifest;
import org.udckpt.image.storage.RateLimit;
import org.udckpt.image.storage.StorageIo;

/**
 * Appends slots to one stripe file, several at a time: up to 8 MiB in one call, since slots stay in the ring until
 * the batch they came in is through. For one thread.
 */
final class StripeWriter implements Closeable {
    private static final int GATHER = 8;
    private final int stripe;
    private final Path file;
    private final StorageIo.Output output;
    private final RateLimit rate;
    private final StripeLog log;
    private final Histogram latency = new Histogram(3);
    private final Slot[] slots = new Slot[GATHER];
    private final ByteBuffer[] buffers = new ByteBuffer[GATHER];
    private int gathered;
    private boolean closed;
    private long length;

    StripeWriter(int stripe, Path file, StorageIo.Output output, StripeLog log, RateLimit rate) {
        this.stripe = stripe;
        this.file = file;
        this.output = output;
        this.log = log;
        this.rate = rate;
    }

    void accept(Slot slot, MemoryPipeline pipeline) {
        slots[gathered++] = slot;
        if (gathered == GATHER) {
            flush(pipeline);
        }
    }

    /** Writes what was gathered. After a failure slots are only given back. */
    void flush(MemoryPipeline pipeline) {
        try {
            if (gathered > 0 && pipeline.failure() == null) {
                write(pipeline);
            }
        } catch (Throwable e) {
            // Before the slots are given back, so that their process is not reported as written.
            pipeline.fail(e);
        } finally {
            for (int i = 0; i < gathered; i++) {
                slots[i].job.written(slots[i], pipeline);
                slots[i].drop();
                slots[i] = null;
            }
            gathered = 0;
        }
    }

    private void write(MemoryPipeline pipeline) throws IOException {
        int count = 0;
        long at = length;
        for (int i = 0; i < gathered; i++) {
            ByteBuffer data = slots[i].data();
            slots[i].describe(stripe, at, log);
            if (data != null) {
                buffers[count++] = data;
                at += data.remaining();
            }
        }
        if (count > 0 && rate.await(at - length, () -> pipeline.failure() != null)) {
            long begin = System.nanoTime();
            output.append(buffers, count);
            latency.recordValue(System.nanoTime() - begin);
        }
        length = at;
    }

    /** Makes the file durable and checks that the file system agrees about its length. */
    Manifest.FileEntry finish(String blocksTable) throws IOException {
        output.sync();
        if (output.length() != length) {
            throw new ImageError.Corrupt(file, -1, output.length() + " bytes long after " + length + " were written");
        }
        close();
        return Manifest.FileEntry.stripe(file.getFileName().toString(), length, blocksTable);
    }

    StripeLog log() {
        return log;
    }

    /** Of all writes, in nanoseconds. */
    Histogram latencies() {
        return latency;
    }

    WriteLatency latency() {
        ByteBuffer encoded = ByteBuffer.allocate(latency.getNeededByteBufferCapacity());
        int size = latency.encodeIntoCompressedByteBuffer(encoded);
        return new WriteLatency(stripe, output.direct(), latency.getTotalCount(), latency.getValueAtPercentile(50),
                latency.getValueAtPercentile(99), latency.getMaxValue(), java.util.Arrays.copyOf(encoded.array(), size));
    }

    @Override
    public void close() throws IOException {
        if (!closed) {
            closed = true;
            output.close();
        }
    }
}
