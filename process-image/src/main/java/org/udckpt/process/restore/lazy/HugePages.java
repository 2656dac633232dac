package org.udckpt.process.restore.lazy;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.udckpt.process.linux.LinuxError;
import org.udckpt.process.linux.PidFd;
import org.udckpt.process.linux.Scratch;
import org.udckpt.process.linux.Syscall;
import org.udckpt.process.model.Region;

/**
 * Memory that had asked for huge pages (MADV_HUGEPAGE) is filled in small ones: userfaultfd(2) knows no others there. When all is in, it is
 * collapsed (MADV_COLLAPSE, Linux 6.1), which changes no content. What cannot be is left to khugepaged.
 */
final class HugePages implements AutoCloseable {
    private static final int PROCESS_MADVISE = 440, MADV_COLLAPSE = 25;
    private static final long HUGE = 2 << 20, STEP = 16 << 20;

    private record Wish(PidFd process, long start, long end) {}

    private final List<Wish> wishes = new ArrayList<>();
    private final Thread worker = Thread.ofPlatform().daemon().name("udckpt-huge-pages").unstarted(this::run);
    private volatile boolean stopped;

    synchronized void note(int hostPid, List<Region> regions) {
        for (Region region : regions) {
            long start = region.start() + HUGE - 1 & -HUGE;
            long end = region.end() & -HUGE;
            if (start < end && Arrays.asList(region.vmFlags().split(" ")).contains("hg")) {
                wishes.add(new Wish(new PidFd(hostPid), start, end));
            }
        }
    }

    /** Begins, when nothing is registered any more. */
    synchronized void collapse() {
        if (!wishes.isEmpty() && !stopped) {
            worker.start();
        }
    }

    private void run() {
        for (Wish wish : wishes) {
            for (long at = wish.start; at < wish.end && !stopped; at += STEP) {
                long result = collapse(wish.process, at, Math.min(STEP, wish.end - at));
                if (result == -LinuxError.ESRCH || result == -LinuxError.EPERM) {
                    break;
                }
            }
        }
    }

    private static long collapse(PidFd process, long start, long bytes) {
        MemorySegment vector = Scratch.data();
        vector.set(JAVA_LONG, 0, start);
        vector.set(JAVA_LONG, 8, bytes);
        return Syscall.call(PROCESS_MADVISE, process.number(), vector.address(), 1, MADV_COLLAPSE, 0);
    }

    @Override
    public void close() {
        synchronized (this) {
            stopped = true;
        }
        try {
            worker.join();
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
        }
        wishes.forEach(wish -> wish.process.close());
    }
}
