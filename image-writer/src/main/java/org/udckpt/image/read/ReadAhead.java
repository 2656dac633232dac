package org.udckpt.image.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * Brings the beginnings of stripe files into the page cache while nothing else reads them: the disk has nothing to do in the tenths of a second in which a
 * restart makes namespaces and processes. What is near then is copied from there, and the rest passes the page cache by as always. A failure ends it; who
 * reads that place meets it again, and says so.
 */
final class ReadAhead {
    /** More than one, as the disk wants more than one request; few, since others need the processors. */
    private static final int THREADS = 2;
    private static final long STEP = 4 << 20;

    private final Stripes stripes;
    private final AtomicLong left;
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopped;

    /** Begins. @param most bytes, of all files together */
    ReadAhead(Stripes stripes, long most) {
        this.stripes = stripes;
        this.left = new AtomicLong(most);
        IntStream.range(0, THREADS).forEach(i -> threads.add(Thread.ofPlatform().daemon().name("read-ahead-" + i).start(() -> work(i))));
    }

    /** A step of each of its files in turn: that is about the order in which they were written. */
    private void work(int first) {
        List<Long> lengths = stripes.lengths();
        try {
            boolean any = true;
            for (long from = 0; any; from += STEP) {
                any = false;
                for (int stripe = first; stripe < lengths.size(); stripe += THREADS) {
                    long to = Math.min(from + STEP, lengths.get(stripe));
                    if (stopped || to > from && left.addAndGet(from - to) < 0) {
                        return;
                    }
                    if (to > from) {
                        stripes.input(stripe).bringNear(from, to);
                        any = true;
                    }
                }
            }
        } catch (IOException | RuntimeException | InternalError e) { // InternalError: the file ends before that (a fault in mapped memory)
            stopped = true;
        }
    }

    /** Returns when nothing is read any more, which takes milliseconds. */
    void stop() {
        stopped = true;
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException asked) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
