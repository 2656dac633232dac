package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.SIGCONT;
import static org.udckpt.linux.LinuxConstants.SIGKILL;
import static org.udckpt.linux.LinuxConstants.SIGSTOP;

import java.io.File;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.SelfWriteOrder;
import org.udckpt.process.model.SelfWriting;
import org.udckpt.process.model.SharedRange;
import org.udckpt.process.model.Unwritten;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.TracerThread;
import org.udckpt.process.trace.WaitStatus;

/** The frozen copy of a process, and the few ranges that a fork does not copy. */
public final class Snapshot implements SelfWriting, AutoCloseable {
    private final TracerThread tracer;
    private final int pid;
    private final int job;
    /** Whose child it is; null: the shepherd's. */
    private final TracedProcess parent;
    private final ProcessMemory memory;
    private final ContentCopy unforked;
    private long[] extents;
    private long[] forked;
    private long[] huge;
    private long[] guards;
    private List<SharedRange> shared = List.of();
    private TracedProcess process;
    private List<SnapshotWriter> writers;
    private boolean direct;
    private boolean closed;
    /** How it ended, or where a fault stopped it, once somebody has seen that; for the tracer thread. */
    private WaitStatus end;

    /** @param pid of the snapshot; @param of the captured process */
    Snapshot(TracerThread tracer, int pid, TracedProcess of, ContentCopy unforked) {
        this.tracer = tracer;
        this.pid = pid;
        this.job = of.namespacePid;
        this.parent = of.forksApart() ? of : null;
        this.unforked = unforked;
        this.memory = new ProcessMemory(pid);
    }

    /** The snapshot's pid as the agent numbers it. */
    public int pid() {
        return pid;
    }

    ProcessMemory memory() {
        return memory;
    }

    /** What of the process's memory the fork did not copy. */
    ContentCopy unforked() {
        return unforked;
    }

    /** Finds the extents in the private memory of {@code mappings}, and in the vDSO. */
    void scan(TracedProcess process, List<Mapping> mappings) {
        this.process = process;
        try (PageScan scan = new PageScan(pagemap())) {
            for (Mapping mapping : mappings) {
                if (!mapping.shared() && !mapping.kernelOwned() && !process.owns(mapping)) {
                    scan.add(mapping.start(), mapping.end(), mapping.file());
                } else if (mapping.vdso()) {
                    scan.addWhole(mapping.start(), mapping.end());
                }
            }
            forked = scan.ranges();
            huge = scan.huge();
            extents = merge(forked, unforked.extents());
            guards = scan.guards();
        }
    }

    /** Which memory it has; after {@link #scan} has begun. */
    Pagemap pagemap() {
        return new Pagemap(process, pid);
    }

    /** {start, end} pairs of the guard pages, after {@link #scan}. */
    long[] guards() {
        return guards;
    }

    /** {@link #extents} without what the fork did not copy. */
    long[] forkedExtents() {
        return forked;
    }

    /** Of {@link #forkedExtents} those that are huge pages. */
    long[] hugePages() {
        return huge;
    }

    private static long[] merge(long[] a, long[] b) {
        long[] all = new long[a.length + b.length];
        int i = 0;
        int j = 0;
        for (int k = 0; k < all.length; k += 2) {
            boolean first = j == b.length || i < a.length && Long.compareUnsigned(a[i], b[j]) < 0;
            all[k] = first ? a[i] : b[j];
            all[k + 1] = first ? a[i + 1] : b[j + 1];
            i += first ? 2 : 0;
            j += first ? 0 : 2;
        }
        return all;
    }

    @Override
    public long id() {
        return job;
    }

    @Override
    public boolean process() {
        return true;
    }

    @Override
    public long[] extents() {
        return Arrays.copyOf(extents, extents.length);
    }

    /** {@link SharedPages} has found it. */
    void shared(List<SharedRange> found) {
        shared = List.copyOf(found);
    }

    @Override
    public List<SharedRange> shared() {
        return shared;
    }

    @Override
    public Unwritten unwritten() {
        return process.unwritten;
    }

    @Override
    public void read(long address, MemorySegment target) {
        if (unforked.empty() || !unforked.tryRead(address, target)) {
            try {
                memory.read(address, target);
            } catch (LinuxError e) {
                throw e.errno() != LinuxError.ESRCH ? e
                        : new CaptureFailed("the snapshot (process " + pid + ") of the job's process " + job
                                + " ended while it was read: killed by hand, or by the kernel for lack of memory", e);
            }
        }
    }

    @Override
    public String ready(List<Integer> files, boolean direct, boolean background, int count) {
        try {
            String reason = unforked.empty() ? SnapshotWriterStart.unable(process, pid, files.size())
                    : "it has memory that a fork does not copy";
            if (reason == null) {
                this.direct = direct;
                writers = tracer.call(() -> SnapshotWriterStart.start(this, process, files, direct, background, count));
            }
            return reason;
        } catch (LinuxError e) {
            return e.getMessage();
        }
    }

    @Override
    public void look(int writer, long[] runs, int count, BitSet zeros, long[] hashes) {
        writers.get(writer).look(runs, count, zeros, hashes);
    }

    @Override
    public long append(int writer, long[] runs, int count, SelfWriteOrder order) {
        return writers.get(writer).append(direct, runs, count, order);
    }

    /** Whether the private memory in [start, end) holds anything. */
    boolean hasExtentIn(long start, long end) {
        int from = 0;
        int to = extents.length / 2;
        while (from < to) { // the first extent that ends behind start
            int middle = from + to >>> 1;
            if (Long.compareUnsigned(extents[2 * middle + 1], start) <= 0) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from < extents.length / 2 && Long.compareUnsigned(extents[2 * from], end) < 0;
    }

    /**
     * While it writes. SIGSTOP is the one signal that it cannot block, and may be meant for all programs of a user: it
     * goes on.
     *
     * @throws CaptureFailed it has ended, or cannot go on
     */
    void checkAlive() {
        WaitStatus seen = tracer.call(() -> {
            end = end == null ? look() : end;
            return end;
        });
        if (seen != null) {
            throw new CaptureFailed("the snapshot (process " + pid + ") of the job's process " + job
                    + " ended while it wrote its memory (" + seen
                    + "): killed by hand, or by the kernel for lack of memory, or a page could not be read");
        }
        String[] threads = new File("/proc/" + pid + "/task").list();
        if (threads != null && threads.length < writers.size()) { // none ends by itself: the kernel has ended it
            throw new CaptureFailed("the snapshot (process " + pid + ") of the job's process " + job + " has "
                    + threads.length + " of the " + writers.size()
                    + " threads that write its memory; the kernel's log (dmesg) may say why");
        }
    }

    private WaitStatus look() {
        WaitStatus status = Ptrace.poll(pid);
        if (status == null || status.ended()) {
            return status;
        }
        if (status.interrupted()) { // a stop of all its threads
            Syscall.call(Syscall.KILL, pid, SIGCONT);
        } else if (status.signal() != SIGSTOP) {
            return status;
        }
        Ptrace.resume(Ptrace.CONT, pid, 0);
        return null;
    }

    /** Ends the snapshot process. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        memory.close();
        unforked.close();
        tracer.call(() -> {
            if (parent != null) {
                ChildSnapshot.end(parent, pid);
            } else if (end == null || !end.ended()) { // else the number may be another's by now
                kill(pid);
            }
            return null;
        });
    }

    /** Whether the shepherd is to expect it. */
    boolean shepherds() {
        return parent == null;
    }

    /** On the tracer thread: kills and waits, so that the subreaper can reap it at once. */
    static void kill(int pid) {
        Syscall.call(Syscall.KILL, pid, SIGKILL);
        try {
            while (!Ptrace.await(pid).ended()) {
                // a stop that was on its way
            }
        } catch (LinuxError gone) {
            if (gone.errno() != LinuxError.ECHILD) {
                throw gone;
            }
        }
    }
}
