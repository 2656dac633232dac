package org.udckpt.image.write;

import com.lmax.disruptor.EventHandler;
import com.lmax.disruptor.ExceptionHandler;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.dsl.Disruptor;
import com.lmax.disruptor.dsl.ProducerType;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.udckpt.image.key.BlockSealer;
import org.udckpt.linux.ThreadEnd;

/**
 * Memory of a node's processes to its stripe files: readers fill slots of a ring, workers pack and checksum them,
 * stripe writers append them. The ring is the only buffer, so a slow disk holds up the readers and memory stays
 * bounded. Readers are only as far ahead of the workers as these need: then the same few buffers are filled again and
 * again, which are in the processor's caches, and the ring's room is for what waits for the disk.
 *
 * <p>After the first failure nothing more is read or written, but slots go on around the ring until all are given back:
 * no thread is left waiting for another that is gone.
 */
final class MemoryPipeline implements Closeable {
    /** Slots for each worker: one that it is at, one that waits, one that is being filled. */
    private static final int AHEAD = 3;

    private final Arena arena = Arena.ofShared();
    private final Disruptor<Slot> disruptor;
    private final RingBuffer<Slot> ring;
    private final ExecutorService readers;
    /** A permit for each slot that may be read and not yet packed. */
    private final Semaphore ahead;
    private final List<Thread> threads = new ArrayList<>();
    private final List<Packer> packers = new ArrayList<>();
    private final WriteOutcome outcome;
    private final WriteMeter meter;
    private boolean closed;

    /** @param sealers make what seals blocks, one for each thread */
    MemoryPipeline(int node, WriterOptions options, List<StripeFile> stripes, Supplier<BlockSealer> sealers,
            WriteOutcome outcome) throws IOException {
        this.outcome = outcome;
        meter = options.meter();
        ahead = new Semaphore(AHEAD * options.workers());
        int slots = Integer.highestOneBit((int) Math.min(1 << 16, options.bufferBytes() / Slot.BYTES));
        PageBuffers buffers = new PageBuffers(arena, slots + options.workers()); // compression takes a second one
        QuietWait quiet = new QuietWait();
        disruptor = new Disruptor<>(() -> new Slot(buffers), slots,
                task -> remembered(outcome.thread("udckpt-image-" + node, options.courtesy(), task)),
                ProducerType.MULTI, quiet);
        quiet.on(disruptor.getRingBuffer());
        disruptor.setDefaultExceptionHandler(new Failing());
        List<EventHandler<Slot>> handlers = new ArrayList<>();
        for (int i = 0; i < options.workers(); i++) {
            packers.add(new Packer(options, sealers.get()));
            handlers.add(packer(i, options.workers(), packers.get(i)));
        }
        List<EventHandler<Slot>> writers = new ArrayList<>();
        for (int i = 0; i < stripes.size(); i++) {
            writers.add(writer(i, stripes));
        }
        disruptor.handleEventsWith(array(handlers)).then(array(writers));
        ring = disruptor.start();
        AtomicInteger number = new AtomicInteger();
        readers = Executors.newFixedThreadPool(options.readers(),
                task -> outcome.thread("udckpt-read-" + node + "-" + number.getAndIncrement(), options.courtesy(),
                        task));
    }

    private Thread remembered(Thread thread) {
        threads.add(thread);
        return thread;
    }

    @SuppressWarnings("unchecked")
    private static EventHandler<Slot>[] array(List<EventHandler<Slot>> handlers) {
        return handlers.toArray(EventHandler[]::new);
    }

    private EventHandler<Slot> packer(int index, int count, Packer packer) {
        return (slot, sequence, endOfBatch) -> {
            if (sequence % count == index) {
                try {
                    if (!outcome.failed()) {
                        packer.pack(slot);
                    }
                } finally {
                    ahead.release();
                }
            }
        };
    }

    private EventHandler<Slot> writer(int index, List<StripeFile> stripes) {
        StripeWriter stripe = new StripeWriter(stripes.get(index));
        return (slot, sequence, endOfBatch) -> {
            if (sequence % stripes.size() == index) {
                stripe.accept(slot, this);
            }
            if (endOfBatch) {
                stripe.flush(this);
            }
        };
    }

    /** Queues a process; its result also fails with any other process's failure, since the checkpoint then does. */
    synchronized CompletableFuture<MemoryResult> submit(MemoryJob job) {
        readers.execute(() -> job.produce(this));
        outcome.expect(job.result());
        return job.result();
    }

    /** Claims a slot (waiting while the ring is full, or the workers are behind), has it filled and passes it on. */
    void publish(Consumer<Slot> filler) {
        ahead.acquireUninterruptibly();
        long sequence = ring.next();
        try {
            filler.accept(ring.get(sequence));
        } finally {
            ring.publish(sequence);
        }
    }

    WriteMeter meter() {
        return meter;
    }

    WriteOutcome outcome() {
        return outcome;
    }

    /** Stops everything; unfinished processes fail. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        outcome.fail(new CancellationException("the checkpoint was abandoned"));
        outcome.await();
        readers.shutdown();
        disruptor.shutdown();
        for (Thread thread : threads) {
            ThreadEnd.await(thread);
        }
        packers.forEach(Packer::close);
        arena.close();
    }

    /** Handlers must outlive their failures: see the class comment. */
    private final class Failing implements ExceptionHandler<Slot> {
        @Override
        public void handleEventException(Throwable cause, long sequence, Slot slot) {
            outcome.fail(cause);
        }

        @Override
        public void handleOnStartException(Throwable cause) {
            outcome.fail(cause);
        }

        @Override
        public void handleOnShutdownException(Throwable cause) {
            outcome.fail(cause);
        }
    }
}
