package org.udckpt.image.write;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Appends slots to one stripe file, several at a time: up to 8 MiB in one call, since slots stay in the ring until
 * the batch they came in is through. For one thread.
 */
final class StripeWriter {
    private static final int GATHER = 8;
    private final StripeFile stripe;
    private final Slot[] slots = new Slot[GATHER];
    private final ByteBuffer[] buffers = new ByteBuffer[GATHER];
    private int gathered;

    StripeWriter(StripeFile stripe) {
        this.stripe = stripe;
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
            if (gathered > 0 && !pipeline.outcome().failed()) {
                write(pipeline);
            }
        } catch (Throwable e) {
            // Before the slots are given back, so that their process is not reported as written.
            pipeline.outcome().fail(e);
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
        long bytes = 0;
        for (int i = 0; i < gathered; i++) {
            ByteBuffer data = slots[i].data();
            slots[i].describe(stripe.number(), stripe.length() + bytes, stripe.log());
            if (data != null) {
                buffers[count++] = data;
                bytes += data.remaining();
            }
        }
        int used = count;
        stripe.append(bytes, pipeline.outcome()::failed, output -> output.append(buffers, used));
    }
}
