package org.udckpt.lifecycle.checkpoint;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.udckpt.image.write.MemoryResult;
import org.udckpt.image.write.WriteMeter;
import org.udckpt.process.model.AddressRanges;
import org.udckpt.process.model.MemorySource;
import org.udckpt.store.ImageProcesses;
import org.udckpt.support.report.WriteProgress;

/** A write that is under way, as others may look at it: the image writer counts bytes, and here ranks are counted. */
final class LiveWrite {
    private final WriteMeter meter;
    private final long begin = System.nanoTime();
    private final Map<Long, Integer> rankOf = new HashMap<>();
    private final Map<Integer, AtomicInteger> unwritten = new HashMap<>();
    private final long bytes;

    /**
     * @param sources all memory of the checkpoint; what ranks share belongs to none of them, and what a launcher has
     */
    LiveWrite(WriteMeter meter, ImageProcesses processes, List<MemorySource> sources) {
        this.meter = meter;
        processes.all()
                .forEach(process -> processes.rank(process).ifPresent(rank -> rankOf.put((long) process.pid(), rank)));
        rankOf.values().forEach(rank -> unwritten.computeIfAbsent(rank, none -> new AtomicInteger()));
        long sum = 0;
        for (MemorySource source : sources) {
            rankOf(source).ifPresent(AtomicInteger::incrementAndGet);
            sum += AddressRanges.bytes(source.own());
        }
        bytes = sum;
    }

    WriteMeter meter() {
        return meter;
    }

    /** A source of the constructor's list is being written. */
    void follow(MemorySource source, CompletableFuture<MemoryResult> written) {
        rankOf(source).ifPresent(left -> written.thenRun(left::decrementAndGet));
    }

    /** How much of the rank is unwritten to which this memory belongs; empty: to none alone. */
    private Optional<AtomicInteger> rankOf(MemorySource source) {
        return Optional.ofNullable(source.process() ? rankOf.get(source.id()) : null).map(unwritten::get);
    }

    WriteProgress progress() {
        WriteMeter.Reading now = meter.read();
        int done = (int) unwritten.values().stream().filter(left -> left.get() == 0).count();
        return new WriteProgress(done, unwritten.size(), now.done(), bytes, now.stored(), System.nanoTime() - begin);
    }
}
