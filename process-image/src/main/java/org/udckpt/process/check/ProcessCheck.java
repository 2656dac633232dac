package org.udckpt.process.check;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.Clocks;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.PosixTimer;
import org.udckpt.process.model.Privileges;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.model.VectorLayout;
import org.udckpt.process.model.Zombie;

/** Processes, threads, timers, zombies, and what there is once. */
final class ProcessCheck {
    /** PID_MAX_LIMIT (include/linux/threads.h). */
    private static final int MOST_PID = 1 << 22;
    private static final int MOST_RANKS = 1 << 24;
    private static final int SIGINFO = 128, SIGNALS = 64, SIGEV_THREAD_ID = 4;
    private static final int MOST_XSTATE = 1 << 16;
    /** The kernel lets no clock of a namespace be further on (KTIME_SEC_MAX / 2, kernel/time/namespace.c). */
    private static final long MOST_CLOCK_NS = Long.MAX_VALUE / 2;
    private static final int NO_BOUND = Integer.MAX_VALUE; // a table's file has one

    private final JobImage image;
    private final Set<Integer> pids = new HashSet<>();
    /** tid -> pid; a process that has ended is its own. */
    private final Map<Integer, Integer> threads = new HashMap<>();

    ProcessCheck(JobImage image) {
        this.image = image;
    }

    /** Pids of the processes. */
    Set<Integer> pids() {
        return pids;
    }

    void check() throws BrokenTable {
        RowCheck row = new RowCheck("processes");
        for (ProcessState process : image.processes()) {
            process(row.next(), process);
        }
        if (pids.isEmpty()) {
            throw row.next().broken("the table has no process");
        }
        row = new RowCheck("vectors");
        if (image.vectors() != null) {
            vectors(row.next(), image.vectors());
        }
        threads();
        row = new RowCheck("timers");
        for (PosixTimer timer : image.timers()) {
            timer(row.next(), timer);
        }
        row = new RowCheck("zombies");
        for (Zombie zombie : image.zombies()) {
            zombie(row.next(), zombie);
        }
        clocks(new RowCheck("clocks").next(), image.clocks());
        privileges();
        AttributeCheck.check(image, pids, threads);
    }

    private void privileges() throws BrokenTable {
        RowCheck row = new RowCheck("privileges");
        Set<Integer> with = new HashSet<>();
        for (Privileges privileges : image.privileges()) {
            row.next();
            row.notNull("the row", privileges);
            row.require(pids.contains(privileges.pid()), "pid %d is not a process of the image", privileges.pid());
            row.require(threads.getOrDefault(privileges.tid(), -1) == privileges.pid(),
                    "tid %d is not a thread of the process", privileges.tid());
            if (privileges instanceof Privileges.Credentials credentials) {
                row.require(with.add(credentials.tid()), "duplicate credentials of thread %d", credentials.tid());
                ids(row, "users", credentials.users(), 4, 4);
                ids(row, "groups", credentials.groups(), 4, 4);
                ids(row, "supplementary", credentials.supplementary(), 0, Privileges.Credentials.MOST_GROUPS);
            }
        }
    }

    private static void ids(RowCheck row, String column, int[] ids, int least, int most) throws BrokenTable {
        row.notNull(column, ids);
        row.length(column, ids.length, least, most, 1);
        for (int id : ids) {
            if (id == -1) { // which means "unchanged" to setresuid(2)
                throw row.broken(column + " contains the invalid id -1");
            }
        }
    }

    private void process(RowCheck row, ProcessState p) throws BrokenTable {
        row.between(1, MOST_PID, "pid", p.pid());
        row.require(p.parentPid() == 0 || pids.contains(p.parentPid())
                || p.parentPid() == ProcessState.ADOPTED && !pids.isEmpty(),
                "parentPid %d is not a process of an earlier row", p.parentPid());
        row.require(pids.add(p.pid()), "duplicate pid %d", p.pid());
        row.between(0, MOST_PID, "processGroup", p.processGroup());
        row.between(0, MOST_PID, "session", p.session());
        row.between(0, MOST_RANKS, "rank", p.rank());
        row.absolute("executable", p.executable());
        row.path("workingDirectory", p.workingDirectory());
        row.text("name", p.name());
        row.text("vdsoBuild", p.vdsoBuild());
        row.between(0, 0777, "umask", p.umask());
        row.bytes("auxv", p.auxv(), 0, RowCheck.PAGE, 16);
        row.notNull("memoryMap", p.memoryMap());
        row.length("memoryMap", p.memoryMap().length, 11, 11, 1);
        row.bytes("signalActions", p.signalActions(), 65 * 32, 65 * 32, 1);
        row.bytes("pendingSignals", p.pendingSignals(), 0, NO_BOUND, SIGINFO);
        row.notNull("intervalTimers", p.intervalTimers());
        row.length("intervalTimers", p.intervalTimers().length, 6, 6, 1);
        row.notNull("limits", p.limits());
        row.length("limits", p.limits().length, 32, 32, 1);
        row.notNull("ownedDescriptors", p.ownedDescriptors());
        for (int fd : p.ownedDescriptors()) {
            row.between(0, ObjectCheck.MOST_DESCRIPTOR, "ownedDescriptors", fd);
        }
        row.notNull("ownedRanges", p.ownedRanges());
        row.length("ownedRanges", p.ownedRanges().length, 0, NO_BOUND, 2);
        for (int i = 0; i < p.ownedRanges().length; i += 2) {
            RegionCheck.range(row, p.ownedRanges()[i], p.ownedRanges()[i + 1]);
        }
    }

    private void threads() throws BrokenTable {
        RowCheck row = new RowCheck("threads");
        Set<Integer> begun = new HashSet<>();
        for (ThreadState thread : image.threads()) {
            row.next();
            row.require(pids.contains(thread.pid()), "pid %d is not a process of the image", thread.pid());
            row.between(1, MOST_PID, "tid", thread.tid());
            // A number is one thread's; that of a process is its main thread's, which comes first.
            row.require(threads.put(thread.tid(), thread.pid()) == null, "duplicate tid %d", thread.tid());
            row.require(begun.add(thread.pid()) == (thread.tid() == thread.pid()),
                    "the first thread of process %d is not its main thread", thread.pid());
            row.bytes("registers", thread.registers(), 216, 216, 1);
            row.bytes("xstate", thread.xstate(), VectorLayout.HEADER_END, MOST_XSTATE, 1);
            if (image.vectors() != null) {
                row.require(image.vectors().bytes() == thread.xstate().length,
                        "xstate has length %d, but table vectors says %d", thread.xstate().length,
                        image.vectors().bytes());
            }
            row.bytes("pendingSignals", thread.pendingSignals(), 0, NO_BOUND, SIGINFO);
            row.bytes("affinity", thread.affinity(), 0, RowCheck.PAGE, 1);
            row.text("name", thread.name());
        }
        if (begun.size() != pids.size()) {
            throw row.next().broken("only " + begun.size() + " of " + pids.size() + " processes have a thread");
        }
    }

    /** Attributes are checked later. */
    private boolean clockElsewhere(PosixTimer timer) {
        return image.attributes().stream()
                .anyMatch(one -> one != null && one.kind() == AttributeKind.TIMER_CLOCK && one.pid() == timer.pid()
                        && one.values() != null && one.values().length > 0 && one.values()[0] == timer.timer());
    }

    private void timer(RowCheck row, PosixTimer timer) throws BrokenTable {
        row.require(pids.contains(timer.pid()), "pid %d is not a process of the image", timer.pid());
        row.between(0, Integer.MAX_VALUE, "timer", timer.timer());
        row.between(0, SIGNALS, "signal", timer.signal());
        boolean clock = PosixTimer.ofThread(timer.clock()) && !clockElsewhere(timer);
        if (timer.notification() == SIGEV_THREAD_ID || clock) {
            row.require(threads.getOrDefault(timer.notifyThread(), -1) == timer.pid(),
                    "notifyThread %d is not a thread of the process", timer.notifyThread());
        }
        row.notNegative("expiresNs", timer.expiresNs());
        row.notNegative("intervalNs", timer.intervalNs());
    }

    private void zombie(RowCheck row, Zombie zombie) throws BrokenTable {
        row.between(1, MOST_PID, "pid", zombie.pid());
        row.require(threads.put(zombie.pid(), zombie.pid()) == null,
                "duplicate pid %d: another process or thread has it", zombie.pid());
        row.require(pids.contains(zombie.parentPid()), "parentPid %d is not a process of the image",
                zombie.parentPid());
        row.between(0, MOST_PID, "processGroup", zombie.processGroup());
        row.between(0, MOST_PID, "session", zombie.session());
        row.text("name", zombie.name());
        row.require(Zombie.possible(zombie.waitStatus()), "waitStatus 0x%x is not that of an ended process",
                zombie.waitStatus());
    }

    private static void clocks(RowCheck row, Clocks clocks) throws BrokenTable {
        row.notNull("the row", clocks);
        row.between(0, MOST_CLOCK_NS, "monotonicNs", clocks.monotonicNs());
        row.between(0, MOST_CLOCK_NS, "boottimeNs", clocks.boottimeNs());
    }

    private static void vectors(RowCheck row, VectorLayout vectors) throws BrokenTable {
        row.between(VectorLayout.HEADER_END, MOST_XSTATE, "bytes", vectors.bytes());
        row.notNull("offsets", vectors.offsets());
        row.notNull("sizes", vectors.sizes());
        row.length("offsets", vectors.offsets().length, 0, Long.SIZE, 1);
        row.length("sizes", vectors.sizes().length, vectors.offsets().length, vectors.offsets().length, 1);
        row.require(vectors.offsets().length == Long.SIZE || vectors.components() >>> vectors.offsets().length == 0,
                "components 0x%x needs more than the %d offsets", vectors.components(), vectors.offsets().length);
        for (int i = 0; i < vectors.offsets().length; i++) {
            row.between(0, vectors.bytes(), "offsets", vectors.offsets()[i]);
            row.between(0, vectors.bytes() - vectors.offsets()[i], "sizes", vectors.sizes()[i]);
        }
    }
}
