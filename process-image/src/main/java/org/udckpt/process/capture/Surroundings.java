package org.udckpt.process.capture;

import java.util.List;
import org.udckpt.process.linux.Files;
import org.udckpt.process.linux.Proc;
import org.udckpt.process.linux.Syscall;

/**
 * Refuses a process that has left the surroundings in which its rank was started, and in which a restart would put it:
 * program, directories, namespaces, user and group ids, capabilities, system call filters.
 */
final class Surroundings {
    /** namespaces(7). Those for children differ from the process's own after an unshare(2) that has not had its child yet. */
    private static final String[] NAMESPACES = {"cgroup", "ipc", "mnt", "net", "pid", "pid_for_children", "time", "time_for_children", "user", "uts"};
    /** proc_pid_status(5). */
    private static final String[] IDS = {"Uid:", "Gid:", "Groups:"};
    private static final String[] CAPABILITIES = {"CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"};
    private static final String[] FILTERS = {"Seccomp:", "Seccomp_filters:", "NoNewPrivs:"};
    private static final int PR_GET_SECUREBITS = 27, SCHED_RESET_ON_FORK = 0x40000000, SCHED_DEADLINE = 6;
    private static final boolean ROOT = Syscall.call(107 /* geteuid */) == 0;

    /** Of the process that a root should be like: read once for all of a tree. */
    private final String[] namespaces = new String[NAMESPACES.length];
    private final String status;

    /** @param origin as {@link Kinship#origin} says it */
    Surroundings(int origin) {
        for (int i = 0; i < namespaces.length; i++) {
            namespaces[i] = namespace(origin, i);
        }
        status = Proc.text("/proc/" + origin + "/status");
    }

    private static String namespace(int pid, int which) {
        return Files.readLink("/proc/" + pid + "/ns/" + NAMESPACES[which]);
    }

    /** From outside. */
    void refuse(TracedProcess process) {
        refuseDeleted(process, "exe", "its program");
        refuseDeleted(process, "cwd", "its working directory");
        String root = Files.readLink("/proc/" + process.pid + "/root");
        if (!"/".equals(root)) {
            throw process.refuse("its root directory is " + root + " (chroot(2)), which cannot be checkpointed");
        }
        for (int i = 0; i < namespaces.length; i++) {
            String own = namespace(process.pid, i);
            if (own != null && namespaces[i] != null && !own.equals(namespaces[i])) {
                throw process.refuse("it is in a " + NAMESPACES[i] + " namespace of its own (unshare(2), a container), which cannot be checkpointed");
            }
        }
        refuseOther(process, process.status, status, IDS, process.pid, "other user or group ids than its rank was started with");
        if (ROOT) { // others have none; in the namespaces of a restart their shepherd keeps some
            refuseOther(process, process.status, status, CAPABILITIES, process.pid, "other capabilities than its rank was started with");
        }
        for (TracedThread thread : process.threads) {
            refuseThread(process, thread);
        }
    }

    private static void refuseDeleted(TracedProcess process, String link, String what) {
        String path = Files.readLink("/proc/" + process.pid + "/" + link);
        if (path != null && path.endsWith(" (deleted)") && Files.stat("/proc/" + process.pid + "/" + link).links() == 0) {
            throw process.refuse(what + " " + MemoryObjects.name(path) + " was deleted or replaced while it ran, so a restart would not find it; put it back and start the job again");
        }
    }

    private static void refuseThread(TracedProcess process, TracedThread thread) {
        if ((thread.policy & ~SCHED_RESET_ON_FORK) == SCHED_DEADLINE) {
            throw process.refuse("thread " + thread.tid + " has the scheduling policy SCHED_DEADLINE, which cannot be checkpointed");
        }
        if (thread == process.main()) {
            return;
        }
        String status = Proc.text("/proc/" + process.pid + "/task/" + thread.tid + "/status");
        refuseOther(process, status, process.status, IDS, thread.tid, "other user or group ids than its main thread");
        refuseOther(process, status, process.status, CAPABILITIES, thread.tid, "other capabilities than its main thread");
        refuseOther(process, status, process.status, FILTERS, thread.tid, "another system call filter than its main thread");
    }

    private static void refuseOther(TracedProcess process, String status, String expected, String[] fields, int tid, String what) {
        for (String field : fields) {
            String own = Proc.field(status, field);
            String first = Proc.field(expected, field);
            if (own != null && !own.equals(first)) {
                throw process.refuse("thread %d has %s (%s %s, not %s), which a restart would not give it".formatted(tid, what, field, own, first));
            }
        }
    }

    /** By a call in the processes. */
    static void ask(List<TracedProcess> processes) {
        if (!ROOT) {
            return; // only who has capabilities can change them
        }
        long own = Syscall.call(Syscall.PRCTL, PR_GET_SECUREBITS);
        long[] bits = ProcessReader.call(processes, process -> new long[] {Syscall.PRCTL, PR_GET_SECUREBITS});
        for (int i = 0; i < bits.length; i++) {
            if (bits[i] != own) {
                throw processes.get(i).refuse("its secure bits are 0x%x, not 0x%x (prctl(2), PR_SET_SECUREBITS), which cannot be checkpointed".formatted(bits[i], own));
            }
        }
    }
}
