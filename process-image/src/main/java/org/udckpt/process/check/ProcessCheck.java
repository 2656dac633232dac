package org.udckpt.process.check;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
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
            throw row.next().broken("there is no process");
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
            row.there("the row", privileges);
            row.is(threads.getOrDefault(privileges.tid(), -1) == privileges.pid() && pids.contains(privileges.pid()),
                    "the process has no thread", privileges.tid());
            if (privileges instanceof Privileges.Credentials credentials) {
                row.is(with.add(credentials.tid()), "second credentials of thread", credentials.tid());
                ids(row, "users", credentials.users(), 4, 4);
                ids(row, "groups", credentials.groups(), 4, 4);
                ids(row, "supplementary", credentials.supplementary(), 0, Privileges.Credentials.MOST_GROUPS);
            }
        }
    }

    private static void ids(RowCheck row, String column, int[] ids, int least, int most) throws BrokenTable {
        row.there(column, ids);
        row.length(column, ids.length, least, most, 1);
        for (int id : ids) {
            row.is(id != -1, "nobody's id in " + column + ":", id); // which means "as it is" to setresuid(2)
        }
    }

    private void process(RowCheck row, ProcessState p) throws BrokenTable {
        row.between(1, MOST_PID, "pid", p.pid());
        row.is(p.parentPid() == 0 || pids.contains(p.parentPid())
                || p.parentPid() == ProcessState.ADOPTED && !pids.isEmpty(), "no process before it is its parent,",
                p.parentPid());
        row.is(pids.add(p.pid()), "a second process", p.pid());
        row.between(0, MOST_PID, "processGroup", p.processGroup());
        row.between(0, MOST_PID, "session", p.session());
        row.between(0, MOST_RANKS, "rank", p.rank());
        row.absolute("executable", p.executable());
        row.path("workingDirectory", p.workingDirectory());
        row.text("name", p.name());
        row.text("vdsoBuild", p.vdsoBuild());
        row.between(0, 0777, "umask", p.umask());
        row.bytes("auxv", p.auxv(), 0, RowCheck.PAGE, 16);
        row.there("memoryMap", p.memoryMap());
        row.length("memoryMap", p.memoryMap().length, 11, 11, 1);
        row.bytes("signalActions", p.signalActions(), 65 * 32, 65 * 32, 1);
        row.bytes("pendingSignals", p.pendingSignals(), 0, NO_BOUND, SIGINFO);
        row.there("intervalTimers", p.intervalTimers());
        row.length("intervalTimers", p.intervalTimers().length, 6, 6, 1);
        row.there("limits", p.limits());
        row.length("limits", p.limits().length, 32, 32, 1);
        row.there("ownedDescriptors", p.ownedDescriptors());
        for (int fd : p.ownedDescriptors()) {
            row.between(0, ObjectCheck.MOST_DESCRIPTOR, "ownedDescriptors", fd);
        }
        row.there("ownedRanges", p.ownedRanges());
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
            row.is(pids.contains(thread.pid()), "there is no process", thread.pid());
            row.between(1, MOST_PID, "tid", thread.tid());
            // A number is one thread's; that of a process is its main thread's, which comes first.
            row.is(threads.put(thread.tid(), thread.pid()) == null, "a second thread", thread.tid());
            row.is(begun.add(thread.pid()) == (thread.tid() == thread.pid()),
                    "the main thread does not come first in process", thread.pid());
            row.bytes("registers", thread.registers(), 216, 216, 1);
            row.bytes("xstate", thread.xstate(), VectorLayout.HEADER_END, MOST_XSTATE, 1);
            row.is(image.vectors() == null || image.vectors().bytes() == thread.xstate().length,
                    "the table of vectors gives another length than xstate's", thread.xstate().length);
            row.bytes("pendingSignals", thread.pendingSignals(), 0, NO_BOUND, SIGINFO);
            row.bytes("affinity", thread.affinity(), 0, RowCheck.PAGE, 1);
            row.text("name", thread.name());
        }
        if (begun.size() != pids.size()) {
            throw row.next().broken("missing: of " + pids.size() + " processes " + begun.size() + " have threads");
        }
    }

    private void timer(RowCheck row, PosixTimer timer) throws BrokenTable {
        row.is(pids.contains(timer.pid()), "there is no process", timer.pid());
        row.between(0, Integer.MAX_VALUE, "timer", timer.timer());
        row.between(0, SIGNALS, "signal", timer.signal());
        if (timer.notification() == SIGEV_THREAD_ID || PosixTimer.ofThread(timer.clock())) {
            row.is(threads.getOrDefault(timer.notifyThread(), -1) == timer.pid(), "the process has no thread",
                    timer.notifyThread());
        }
        row.notNegative("expiresNs", timer.expiresNs());
        row.notNegative("intervalNs", timer.intervalNs());
    }

    private void zombie(RowCheck row, Zombie zombie) throws BrokenTable {
        row.between(1, MOST_PID, "pid", zombie.pid());
        row.is(threads.put(zombie.pid(), zombie.pid()) == null, "there is another process or thread of its pid",
                zombie.pid());
        row.is(pids.contains(zombie.parentPid()), "there is no process for its parentPid", zombie.parentPid());
        row.between(0, MOST_PID, "processGroup", zombie.processGroup());
        row.between(0, MOST_PID, "session", zombie.session());
        row.text("name", zombie.name());
        row.is(Zombie.possible(zombie.waitStatus()), "no process ends with waitStatus", zombie.waitStatus());
    }

    private static void clocks(RowCheck row, Clocks clocks) throws BrokenTable {
        row.there("the row", clocks);
        row.between(0, MOST_CLOCK_NS, "monotonicNs", clocks.monotonicNs());
        row.between(0, MOST_CLOCK_NS, "boottimeNs", clocks.boottimeNs());
    }

    private static void vectors(RowCheck row, VectorLayout vectors) throws BrokenTable {
        row.between(VectorLayout.HEADER_END, MOST_XSTATE, "bytes", vectors.bytes());
        row.there("offsets", vectors.offsets());
        row.there("sizes", vectors.sizes());
        row.length("offsets", vectors.offsets().length, 0, Long.SIZE, 1);
        row.length("sizes", vectors.sizes().length, vectors.offsets().length, vectors.offsets().length, 1);
        row.is(vectors.offsets().length == Long.SIZE || vectors.components() >>> vectors.offsets().length == 0,
                "offsets do not go as far as the components,", vectors.components());
        for (int i = 0; i < vectors.offsets().length; i++) {
            row.between(0, vectors.bytes(), "offsets", vectors.offsets()[i]);
            row.between(0, vectors.bytes() - vectors.offsets()[i], "sizes", vectors.sizes()[i]);
        }
    }
}
