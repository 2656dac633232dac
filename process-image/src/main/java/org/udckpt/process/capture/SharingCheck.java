package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.KCMP_VM;
import static org.udckpt.linux.LinuxConstants.SIGCHLD;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;

/**
 * Refuses what processes and threads share, or do not share, otherwise than clone(2) makes it in a child of its caller,
 * or pthread_create(3) in a thread: a restart makes them by just these.
 */
final class SharingCheck {
    /** kcmp(2). */
    private static final int KCMP_FILES = 2, KCMP_FS = 3, KCMP_SIGHAND = 4;
    /** proc_pid_stat(5), from field 3 (state) on: ppid, exit_signal. */
    private static final int PARENT = 4 - 3, EXIT_SIGNAL = 38 - 3;
    /** comm of the process that starts ranks: the parent of every root. */
    private static final String SHEPHERD = "udckpt-shepherd";

    private static final String OWN_PID = Files.readLink("/proc/self");

    private SharingCheck() {}

    /** Reads what a process shares. */
    static void refuse(TracedProcess process) {
        ThreadTable.refuseUnknown(process);
        if (process.parent == null) {
            return;
        }
        int parent = process.parent.task();
        process.sharesMemory = shared(parent, process.task(), KCMP_VM);
        process.sharesHandlers = shared(parent, process.task(), KCMP_SIGHAND);
        process.sharesDescriptors = shared(parent, process.task(), KCMP_FILES);
        process.sharesDirectories = shared(parent, process.task(), KCMP_FS);
        int signal = Integer.parseInt(Proc.stat(process.pid)[EXIT_SIGNAL]);
        if (signal != SIGCHLD) {
            throw process.refuse("its end is signalled by " + signal + " instead of SIGCHLD (clone(2)), which cannot "
                    + "be checkpointed");
        }
    }

    /**
     * Refuses processes that share something otherwise than with their parents: CLONE_PARENT makes a sibling, and an
     * orphan has another parent than the process that made it.
     *
     * @param processes that have been read
     */
    static void refuseShared(List<TracedProcess> processes) {
        refuseShared(processes, KCMP_VM, "memory", "CLONE_VM", one -> one.sharesMemory);
        refuseShared(processes, KCMP_SIGHAND, "signal handlers", "CLONE_SIGHAND", one -> one.sharesHandlers);
        refuseShared(processes, KCMP_FILES, "descriptors", "CLONE_FILES", one -> one.sharesDescriptors);
        refuseShared(processes, KCMP_FS, "its working directory", "CLONE_FS", one -> one.sharesDirectories);
        ThreadTable.refuseShared(processes);
        for (TracedProcess process : processes) {
            if (process.sharesDirectories && process.mountNamespace != null) {
                throw process.refuse("it shares its working directory with its parent (clone(2) with CLONE_FS) and is "
                        + "in a mount namespace of its own, which no restart could let it enter");
            }
        }
    }

    /** Of those that share one thing, all but one have it from their parents. */
    private static void refuseShared(List<TracedProcess> processes, int what, String name, String flag,
            Predicate<TracedProcess> fromParent) {
        List<TracedProcess> sorted = new ArrayList<>(processes);
        sorted.sort((one, other) -> order(one.task(), other.task(), what));
        TracedProcess before = null;
        TracedProcess first = null;
        for (TracedProcess process : sorted) {
            first = before != null && shared(before.task(), process.task(), what) ? first : null;
            if (!fromParent.test(process)) {
                if (first != null) {
                    throw process.refuse("it shares " + name + " with process " + first.pid + ", which is not its "
                            + "parent (clone(2) with " + flag + "): that cannot be checkpointed");
                }
                first = process;
            }
            before = process;
        }
    }

    /** What a restart makes again. */
    static List<Attribute> attributes(TracedProcess process) {
        List<Attribute> shared = new ArrayList<>();
        add(process, process.sharesDescriptors, AttributeKind.SHARED_DESCRIPTORS, shared);
        add(process, process.sharesDirectories, AttributeKind.SHARED_DIRECTORIES, shared);
        add(process, process.sharesMemory, AttributeKind.SHARED_MEMORY, shared);
        add(process, process.sharesHandlers, AttributeKind.SHARED_HANDLERS, shared);
        process.ownTables().forEach(thread -> shared.add(Attribute.of(AttributeKind.OWN_DESCRIPTORS,
                process.namespacePid, thread.namespaceTid, 1)));
        return shared;
    }

    private static void add(TracedProcess process, boolean shares, AttributeKind kind, List<Attribute> shared) {
        if (shares) {
            shared.add(Attribute.of(kind, process.namespacePid, 0, process.parent.namespacePid));
        }
    }

    /**
     * Who has another's memory changes its code: none of those is trusted with the agent's rights who has it together
     * with one that is not ({@link TracedProcess#lostRights}).
     *
     * @param processes parents before their children
     */
    static void distrustTogether(List<TracedProcess> processes) {
        for (TracedProcess process : processes.reversed()) {
            if (process.sharesMemory && process.parent.lostRights == null) {
                process.parent.lostRights = process.lostRights;
            }
        }
        for (TracedProcess process : processes) {
            if (process.sharesMemory) {
                process.lostRights = process.parent.lostRights;
            }
        }
    }

    /** kcmp(2): 0 is equal, 1 less, 2 greater. */
    private static int order(int one, int other, int what) {
        long order = one == other ? 0 : compare(one, other, what);
        return order == 0 ? 0 : order == 1 ? -1 : 1;
    }

    /** Whether two threads have one root, working directory and umask. */
    static boolean shareDirectories(int one, int other) {
        return shared(one, other, KCMP_FS);
    }

    /** Whether two threads have one table of descriptors. */
    static boolean shareDescriptors(int one, int other) {
        return shared(one, other, KCMP_FILES);
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
                status = Proc.text("/proc/" + Proc.living(child) + "/status"); // whose main thread ended is traced too
            } catch (LinuxError gone) {
                continue; // it ended meanwhile
            }
            // the shepherd reaps dead processes
            boolean over =
                    Proc.field(status, "State:").startsWith("Z") || Proc.field(status, "State:").startsWith("X");
            if (!ours(Proc.field(status, "TracerPid:")) && !over) {
                orphans.add(child);
            }
        }
        return orphans;
    }

    /** Traced by a thread of this process. Someone else's tracee is refused when it is to be stopped. */
    static boolean ours(String tracer) {
        return !tracer.equals("0") && Proc.numbers("/proc/self/task/" + tracer + "/fd").length > 0;
    }
}
