package org.udckpt.process.tracking;

import org.udckpt.linux.LinuxError;
import org.udckpt.process.model.AddressRanges;
import org.udckpt.process.model.Unwritten;

/** One process whose writes are noted. Any thread: huge pages are joined beside checkpoints. */
final class TrackedProcess implements AutoCloseable {
    /** Ranges that are shorter are looked at with what is around them: each call costs a microsecond. */
    private static final long SHORT = 64 * 4096;

    private final int pid;
    /** As the job numbers it. */
    private final int named;
    private WriteProtection protection;
    /** The checkpoint since which {@link #written} is all that was written; 0: nothing is known. */
    private long base;
    /** The process's number in that checkpoint. */
    private int number;
    private PageRanges written = new PageRanges();
    /** Where there were pages at the last stop, of long ranges. */
    private PageRanges dense = new PageRanges();
    private HotBlocks hot = new HotBlocks();
    /**
     * Where devices could write at the last stop. Memory that is pinned later is written to by that, as the kernel sees
     * it, and so counts as written until the next stop.
     */
    private long[] pinned = new long[0];

    /** @param pid as the agent numbers it */
    TrackedProcess(int pid, int named) {
        this.pid = pid;
        this.named = named;
    }

    int named() {
        return named;
    }

    int pid() {
        return pid;
    }

    boolean protectedNow() {
        return protection != null;
    }

    /** A context of the memory that it has now; of what was there before, nothing is known. */
    synchronized void protect(WriteProtection made) {
        forget();
        protection = made;
    }

    /** Nothing is known of its memory, and nothing is noted any more. */
    synchronized void forget() {
        if (protection != null) {
            protection.close();
            protection = null;
        }
        base = 0;
        written = new PageRanges();
        dense = new PageRanges();
        hot = new HotBlocks();
        pinned = new long[0];
    }

    /**
     * What was written until now is kept in mind, and the next writes are noted again. Of memory that is new since, all
     * counts as written; also what cannot be registered.
     *
     * @param mappings {start, end} pairs of its private memory
     * @param devices those of memory that devices may write to from now on
     * @return false: it has other memory now, for which {@link #protect} is needed
     */
    synchronized boolean scan(long[] mappings, long[] devices) {
        PageRanges now = new PageRanges();
        hot.keepIn(mappings);
        long[] cold = AddressRanges.without(mappings, hot.pairs());
        long[] known = AddressRanges.both(cold, dense.pairs());
        long[] unknown = AddressRanges.without(cold, dense.pairs());
        int next = 0;
        int other = 0;
        try (WrittenScan scan = new WrittenScan(pid)) {
            for (int i = 0; i < mappings.length; i += 2) {
                long end = mappings[i + 1];
                boolean noted = true;
                while (next < known.length && known[next] < end || other < unknown.length && unknown[other] < end) {
                    if (other == unknown.length || next < known.length && known[next] < unknown[other]) {
                        noted = noted && scan.dense(known[next], known[next + 1], now);
                        next += 2;
                    } else {
                        noted = noted && scan.sparse(unknown[other], unknown[other + 1], now);
                        other += 2;
                    }
                }
                if (!noted) {
                    now.add(mappings[i], end);
                    long result = protection.register(mappings[i], end);
                    if (result == -LinuxError.ESRCH) {
                        return false;
                    }
                    if (result == 0) {
                        scan.first(mappings[i], end);
                    }
                }
            }
        }
        written = written.with(now).with(PageRanges.of(hot.pairs()))
                .with(PageRanges.of(AddressRanges.both(mappings, pinned)));
        pinned = devices;
        return true;
    }

    /** Where it had pages at its last stop, and which of them are huge: the hot ones are not protected any more. */
    synchronized void populated(long[] extents, long[] huge) {
        dense = PageRanges.of(extents).longer(SHORT);
        long[] fresh = hot.seen(huge);
        for (int i = 0; protection != null && i < fresh.length; i += 2) {
            protection.release(fresh[i], fresh[i + 1]);
        }
    }

    /** Of these mappings what nobody has written to since the base; {@link Unwritten#NOTHING} without one. */
    synchronized Unwritten unwritten(long[] mappings) {
        return base == 0 ? Unwritten.NOTHING
                : new Unwritten(base, number, AddressRanges.without(mappings, written.pairs()));
    }

    /**
     * What it held at its last stop is in this checkpoint.
     *
     * @param its the process's number in it
     * @param unchanged {start, end} pairs of what an older one has, too
     */
    synchronized void committed(long checkpoint, int its, long[] unchanged) {
        hot.unchanged(unchanged);
        base = protection == null ? 0 : checkpoint;
        number = its;
        written = new PageRanges();
    }

    /** This memory is about to become huge pages: none of it may be protected. */
    synchronized void joining(long start, long end) {
        if (protection != null) {
            hot.add(start, end);
            protection.release(start, end);
        }
    }

    @Override
    public void close() {
        forget();
    }
}
