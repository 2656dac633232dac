package org.udckpt.process.restore.lazy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.TransferBuffer;

/**
 * Fetches what nobody has asked for yet: run after run of each process in turn, which is about the order in which the
 * image was written, so that the disk is read from front to back. Children come when nothing else is left: most have
 * ended by then.
 */
final class Prefetch {
    private static final long RUN = 16 << 20; // and the rest of the piece of the image in which it ends
    /**
     * More than work: most of them wait for the disk, which needs that many requests to be as fast as it can
     * (bench/restart: 4 leave a third of it).
     */
    private static final int THREADS = Math.max(12, Runtime.getRuntime().availableProcessors());
    private static final long REST_MS = 1;

    private record Run(LazySpace space, long start, long end) {}

    private final LazyMemory memory;
    private final List<Thread> threads = new ArrayList<>();
    /** Where the next run of a space begins, and how many are under way. */
    private final Map<LazySpace, Long> next = new HashMap<>();
    private final Map<LazySpace, Integer> busy = new HashMap<>();
    private int turn;
    private volatile boolean stopped;

    Prefetch(LazyMemory memory) {
        this.memory = memory;
    }

    void start() {
        for (int i = 0; i < THREADS; i++) {
            threads.add(Thread.ofPlatform().daemon().name("udckpt-prefetch-" + i).start(this::work));
        }
    }

    private void work() {
        try {
            List<LazySpace> spaces;
            while (!stopped && !(spaces = memory.spaces()).isEmpty()) {
                Run run = claim(spaces);
                if (run == null) {
                    Thread.sleep(REST_MS);
                } else {
                    fetch(run);
                }
            }
        } catch (RuntimeException | Error failure) {
            memory.fail(failure);
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
        }
    }

    /** Null when all that is missing is under way. */
    private synchronized Run claim(List<LazySpace> spaces) {
        for (int i = 0; i < spaces.size(); i++) {
            LazySpace space = spaces.get((turn + i) % spaces.size());
            if (space.done()) {
                continue;
            }
            Missing.Part first = space.missing.next(next.getOrDefault(space, 0L));
            if (first == null && busy.getOrDefault(space, 0) == 0) {
                first = space.missing.next(0); // moved to a lower address meanwhile
            }
            if (first != null) {
                turn = (turn + i + 1) % spaces.size();
                long end = space.missing.pieceEnd(first.start() + RUN);
                next.put(space, end);
                busy.merge(space, 1, Integer::sum);
                return new Run(space, first.start(), end);
            }
        }
        return null;
    }

    private void fetch(Run run) {
        try {
            Missing.Part part;
            long at = run.start();
            while (!stopped && !run.space().done() && (part = run.space().missing.next(at)) != null
                    && part.start() < run.end()) {
                run.space().fill(part, TransferBuffer.own());
                at = part.end();
            }
        } finally {
            synchronized (this) {
                busy.merge(run.space(), -1, Integer::sum);
            }
        }
    }

    /** Returns when none of its threads works any more. */
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
