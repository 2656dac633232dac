package org.udckpt.process.tracking;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.UserfaultFd;
import org.udckpt.process.model.Unwritten;
import org.udckpt.process.trace.Injector;

/**
 * The processes of a job here, and what of their private memory was written to between its checkpoints. Memory that a
 * device writes to is pinned, and such writes the kernel does not see: it counts as written where the preloaded library
 * knows all of it. Not tracked is a process with other pinned memory, one whose system calls are filtered, as its
 * filter may end it for userfaultfd(2), and one that uses this call. One
 * checkpoint at a time; its stops from several threads, one for each process.
 */
public final class WriteTracking implements AutoCloseable {
    /** Of jobs whose checkpoints store everything. */
    public static final WriteTracking OFF = new WriteTracking(false);

    private final boolean on;
    private final Map<Integer, TrackedProcess> processes = new ConcurrentHashMap<>();
    /** Those that handle faults of their memory themselves: each page has one userfaultfd(2) context only. */
    private final Set<Integer> left = ConcurrentHashMap.newKeySet();
    /** Those that have stopped for the checkpoint that is being made. */
    private final Map<Integer, TrackedProcess> stopped = new ConcurrentHashMap<>();

    private WriteTracking(boolean on) {
        this.on = on;
    }

    /** Where the kernel can; else nothing is ever known. */
    public static WriteTracking ifAvailable() {
        return WriteProtection.available() ? new WriteTracking(true) : OFF;
    }

    /** Whether it does anything. */
    public boolean on() {
        return on;
    }

    /**
     * In the stop, before the process is copied.
     *
     * @param pid as the agent numbers it
     * @param named as the job does
     * @param status its file in /proc
     * @param main makes calls in it
     * @param mappings {start, end} pairs of its private memory
     * @param pinned where devices may write in it, if memory of it is pinned: {start, end} pairs, or null: that is not
     *            known
     */
    public Unwritten stopped(int pid, int named, String status, Injector main, long[] mappings,
            Supplier<long[]> pinned) {
        if (!on) {
            return Unwritten.NOTHING;
        }
        // a number of the host may be another process's by now, also under another number of the job
        TrackedProcess process = processes.compute(pid, (_, old) -> sameOr(old, pid, named));
        stopped.put(pid, process);
        try {
            boolean may = !left.contains(pid) && "0".equals(Proc.field(status, "Seccomp:"));
            long[] devices = may && !"0 kB".equals(Proc.field(status, "VmPin:")) ? pinned.get() : new long[0];
            if (!may || devices == null) {
                process.forget();
                return Unwritten.NOTHING;
            }
            if (process.protectedNow() && process.scan(mappings, devices)) {
                return process.unwritten(mappings);
            }
            process.forget();
            WriteProtection made = make(pid, main);
            if (made != null) {
                process.protect(made);
                process.scan(mappings, devices);
            }
            return Unwritten.NOTHING;
        } catch (LinuxError failure) {
            process.forget(); // its memory is read, as without tracking
            return Unwritten.NOTHING;
        }
    }

    private static TrackedProcess sameOr(TrackedProcess old, int pid, int named) {
        if (old != null && old.named() == named) {
            return old;
        }
        if (old != null) {
            old.close();
        }
        return new TrackedProcess(pid, named);
    }

    /** Null where the process may not have one. */
    private static WriteProtection make(int pid, Injector main) {
        long its = main.call(UserfaultFd.SYSTEM_CALL, WriteProtection.FLAGS);
        if (its < 0) {
            return null;
        }
        WriteProtection made;
        try (ProcessHandleFd handle = new ProcessHandleFd(pid)) {
            made = new WriteProtection(handle.duplicate((int) its));
        } finally {
            main.check("close", Syscall.CLOSE, its);
        }
        if (made.agree() != 0) {
            made.close();
            return null;
        }
        return made;
    }

    /**
     * The checkpoint is complete.
     *
     * @param checkpoint its number
     * @param numbers of processes in it, as the job numbers them
     * @param unchanged {start, end} pairs of what an older checkpoint has of a process, too, by its number
     */
    public void committed(long checkpoint, Map<Long, Integer> numbers, IntFunction<long[]> unchanged) {
        stopped.values().forEach(process -> {
            Integer number = numbers.get((long) process.named());
            if (number == null) {
                process.forget();
            } else {
                process.committed(checkpoint, number, unchanged.apply(number));
            }
        });
        keepStopped();
        stopped.clear();
    }

    /** The process will handle faults of its memory itself: it is not tracked from now on. */
    public void leave(int pid) {
        left.add(pid);
        TrackedProcess process = processes.get(pid);
        if (process != null) {
            process.forget();
        }
    }

    /** Processes that were not there at the last stop have ended. */
    private void keepStopped() {
        left.retainAll(stopped.keySet());
        List<TrackedProcess> ended = new ArrayList<>();
        processes.values().removeIf(process -> {
            boolean gone = !stopped.containsKey(process.pid());
            if (gone) {
                ended.add(process);
            }
            return gone;
        });
        ended.forEach(TrackedProcess::close);
    }

    /**
     * A stop is about to begin. Where there is no checkpoint of the last one, what has been written since the one
     * before is still known.
     */
    public void begin() {
        stopped.clear();
    }

    /**
     * After the stop: where the process had pages, which makes the next one shorter.
     *
     * @param extents {start, end} pairs, ascending
     * @param huge of them, those that are huge pages
     */
    public void populated(int pid, long[] extents, long[] huge) {
        TrackedProcess process = stopped.get(pid);
        if (process != null) {
            process.populated(extents, huge);
        }
    }

    /** Its pages are about to be joined: they count as written, for those that are noted cannot be. */
    public void joining(int pid, long start, long end) {
        TrackedProcess process = processes.get(pid);
        if (process != null) {
            process.joining(start, end);
        }
    }

    @Override
    public void close() {
        processes.values().forEach(TrackedProcess::close);
        processes.clear();
    }
}
