package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.KCMP_VM;
import static org.udckpt.linux.LinuxConstants.SIGCHLD;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;

/**
 * Refuses what processes and threads share, or do not share, otherwise than fork(2) and pthread_create(3) make it: a
 * restart makes them by just these.
 */
final class SharingCheck {
    /** kcmp(2). */
    private static final int KCMP_FILES = 2, KCMP_FS = 3;
    /** proc_pid_stat(5), from field 3 (state) on: ppid, exit_signal. */
    private static final int PARENT = 4 - 3, EXIT_SIGNAL = 38 - 3;
    /** comm of the process that starts ranks: the parent of every root. */
    private static final String SHEPHERD = "udckpt-shepherd";

    private static final String OWN_PID = Files.readLink("/proc/self");

    private SharingCheck() {}

    static void refuse(TracedProcess process) {
        for (TracedThread thread : process.threads) {
            if (!shared(process.pid, thread.tid, KCMP_FILES) || !shared(process.pid, thread.tid, KCMP_FS)) {
                throw process.refuse("thread " + thread.tid
                        + " has descriptors or a working directory of its own (unshare(2)), which cannot be "
                        + "checkpointed");
            }
        }
        if (process.parent == null) {
            return;
        }
        int parent = process.parent.pid;
        if (shared(parent, process.pid, KCMP_VM) || shared(parent, process.pid, KCMP_FILES)
                || shared(parent, process.pid, KCMP_FS)) {
            throw process.refuse(
                    "it shares memory, descriptors or its working directory with its parent (clone(2) with CLONE_VM, "
                            + "CLONE_FILES or CLONE_FS), which cannot be checkpointed");
        }
        int signal = Integer.parseInt(Proc.stat(process.pid)[EXIT_SIGNAL]);
        if (signal != SIGCHLD) {
            throw process.refuse("its end is signalled by " + signal + " instead of SIGCHLD (clone(2)), which cannot "
                    + "be checkpointed");
        }
    }

    /**
     * Refuses processes that share something. They need not be parent and child: CLONE_PARENT makes a sibling, and an
     * orphan has another parent than the process that made it.
     *
     * @param processes that have been read
     */
    static void refuseShared(List<TracedProcess> processes) {
        for (int what : new int[]{KCMP_VM, KCMP_FILES, KCMP_FS}) {
            List<TracedProcess> sorted = new ArrayList<>(processes);
            sorted.sort((one, other) -> order(one.pid, other.pid, what));
            for (int i = 1; i < sorted.size(); i++) {
                if (shared(sorted.get(i - 1).pid, sorted.get(i).pid, what)) {
                    throw sorted.get(i).refuse("it shares memory, descriptors or its working directory with process "
                            + sorted.get(i - 1).pid
                            + " (clone(2) with CLONE_VM, CLONE_FILES or CLONE_FS), which cannot be checkpointed");
                }
            }
        }
    }

    /** kcmp(2): 0 is equal, 1 less, 2 greater. */
    private static int order(int one, int other, int what) {
        long order = one == other ? 0 : compare(one, other, what);
        return order == 0 ? 0 : order == 1 ? -1 : 1;
    }

    private static boolean shared(int one, int other, int what) {
        return one == other || compare(one, other, what) == 0;
    }

    private static long compare(int one, int other, int what) {
        long result = Syscall.call(Syscall.KCMP, one, other, what, 0, 0);
        return result < 0 ? LinuxError.check(result, "kcmp of " + one + " and " + other) : result;
    }

    /**
     * The process that a root should be like in all that nobody meant to change: its shepherd, or (without one) this
     * process.
     */
    static int origin(TracedProcess root) {
        int shepherd = shepherd(root.pid);
        return shepherd > 0 ? shepherd : Integer.parseInt(OWN_PID);
    }

    /** The shepherd of a root; -1: it has none. */
    static int shepherd(int root) {
        int parent = parent(root);
        return parent > 0 && SHEPHERD.equals(Proc.text("/proc/" + parent + "/comm").strip()) ? parent : -1;
    }

    /** What getppid(2) tells a root; 0: its parent is in another pid namespace. */
    static int parentNumber(TracedProcess root) {
        String[] own = Proc.field(root.status, "NSpid:").split("\\s+");
        String[] parents = Proc.field(Proc.text("/proc/" + parent(root.pid) + "/status"), "NSpid:").split("\\s+");
        return own.length == parents.length ? Integer.parseInt(parents[parents.length - 1]) : 0;
    }

    private static int parent(int pid) {
        return Integer.parseInt(Proc.stat(pid)[PARENT]);
    }

    /**
     * Processes below the shepherd that are nobody's children any more (daemons) and still run. Snapshots, and those
     * that were found before, are traced by this process.
     *
     * @param roots pids of all ranks; {@code root}: one of them
     */
    static List<Integer> orphans(int root, Set<Integer> roots) {
        int shepherd = shepherd(root);
        List<Integer> orphans = new ArrayList<>();
        for (int child : shepherd < 0 ? new int[0] : Proc.children(shepherd)) {
            if (roots.contains(child)) {
                continue;
            }
            String status;
            try {
                status = Proc.text("/proc/" + child + "/status");
            } catch (LinuxError gone) {
                continue; // it ended meanwhile
            }
            // The shepherd reaps dead processes. One whose other threads run is not dead: the stop refuses it by name.
            boolean over =
                    (Proc.field(status, "State:").startsWith("Z") || Proc.field(status, "State:").startsWith("X"))
                            && Proc.threads(child).length <= 1;
            if (!ours(Proc.field(status, "TracerPid:")) && !over) {
                orphans.add(child);
            }
        }
        return orphans;
    }

    /** Traced by a thread of this process. Someone else's tracee is refused when it is to be stopped. */
    private static boolean ours(String tracer) {
        return !tracer.equals("0") && Proc.numbers("/proc/self/task/" + tracer + "/fd").length > 0;
    }
}
