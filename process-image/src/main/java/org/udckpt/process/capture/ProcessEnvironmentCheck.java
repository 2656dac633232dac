package org.udckpt.process.capture;

import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.Proc;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.OpenedByName;
import org.udckpt.process.kinds.mount.JobMounts;

/**
 * Refuses a process that has left the surroundings in which its rank was started, and in which a restart would put it:
 * program, directories, namespaces, control groups. Has user, groups and capabilities read
 * ({@link PrivilegeReader}).
 */
final class ProcessEnvironmentCheck {
    private static final String CGROUP = "cgroup";
    /**
     * namespaces(7). Those for children differ from the process's own after an unshare(2) that has not had its child
     * yet.
     */
    private static final String[] NAMESPACES =
            {CGROUP, "ipc", "mnt", "net", "pid", "pid_for_children", "time", "time_for_children", "user", "uts"};
    /** Which one thread can have alone: not those of users and, without its own directories, of mounts. */
    private static final String[] OF_THREADS =
            {CGROUP, "ipc", "net", "pid_for_children", "time_for_children", "uts"};
    private static final int SCHED_RESET_ON_FORK = 0x40000000, SCHED_DEADLINE = 6;

    /** Namespaces of the process that a root is compared with: read once for all of a tree. */
    private final String[] namespaces = new String[NAMESPACES.length];
    private final ControlGroups cgroups;
    private final PrivilegeReader privileges;
    private final JobMounts mounts;
    private final int started;
    private final TaskStatus origin;
    private final int originPid;
    private final String label;

    /** @param origin as {@link SharingCheck#origin} says it */
    ProcessEnvironmentCheck(int origin, TaskStatus status, PidLevels levels, JobMounts mounts) {
        this.mounts = mounts;
        this.started = origin;
        for (int i = 0; i < namespaces.length; i++) {
            namespaces[i] = namespace(origin, i);
        }
        this.origin = status;
        this.originPid = levels.job(status.field("NSpid:"));
        this.label = AgentRights.label(origin);
        cgroups = new ControlGroups(origin);
        privileges = new PrivilegeReader(this.origin);
    }

    private static String namespace(int pid, int which) {
        return Files.readLink("/proc/" + pid + "/ns/" + NAMESPACES[which]);
    }

    /** From outside. */
    void refuse(TracedProcess process) {
        boolean apart = false; // in a control group namespace: looked at when its groups are known
        for (int i = 0; i < namespaces.length; i++) {
            String own = namespace(process.task(), i);
            if (own != null && namespaces[i] != null && !own.equals(namespaces[i])) {
                apart |= NAMESPACES[i].equals(CGROUP);
                entered(process, NAMESPACES[i]);
            }
            if (own == null && namespaces[i] != null && NAMESPACES[i].equals("pid_for_children")) {
                throw process.refuse("it has made a pid namespace (unshare(2)) in which no process is yet; try again "
                        + "when it has had a child");
            }
        }
        if (process.threads.size() > 1 && (User.id() == 0 || process.ownUsers)) {
            refuseThreads(process);
        }
        String root = Files.readLink("/proc/" + process.task() + "/root");
        if (!"/".equals(root)) {
            process.rootDirectory = root;
            process.seenThrough = mounts(process);
            refuseUnreachable(process, "root", "its root directory");
        }
        refuseUnreachable(process, "exe", "its program");
        refuseUnreachable(process, "cwd", "its working directory");
        String itsLabel = AgentRights.label(process.task());
        if (!itsLabel.equals(label) && !itsLabel.endsWith("unconfined)")) { // AppArmor: a name only
            throw process.refuse("it has the security label " + itsLabel + ", but was started with " + label
                    + ": a restart cannot restore that");
        }
        cgroups.read(process);
        if (apart) {
            mounts.others().controlGroups().entered(process, started);
        }
        process.originPid = originPid;
        process.lostRights = AgentRights.lost(itsLabel);
        if (process.endedMain != null) {
            privileges.read(process, process.endedMain);
        }
        for (TracedThread thread : process.threads) {
            privileges.read(process, thread);
            process.lostRights =
                    process.lostRights == null ? AgentRights.lost(thread.tid, thread.status) : process.lostRights;
            refuseThread(process, thread);
            thread.storeBypass = StatusLines.storeBypass(thread.status, origin);
            thread.indirectBranch = StatusLines.indirectBranch(thread.status, origin);
        }
    }

    /** Who may make a namespace may do so in one thread only. */
    private static void refuseThreads(TracedProcess process) {
        for (String namespace : OF_THREADS) {
            String own = Files.readLink("/proc/" + process.task() + "/ns/" + namespace);
            for (TracedThread thread : process.threads) {
                String its = Files.readLink("/proc/" + process.pid + "/task/" + thread.tid + "/ns/" + namespace);
                if (its != null && !its.equals(own)) {
                    throw process.refuse("thread " + thread.tid + " is in another " + namespace
                            + " namespace than the process (unshare(2), setns(2)), which cannot be checkpointed");
                }
            }
        }
    }

    private void entered(TracedProcess process, String namespace) {
        switch (namespace) {
            case "mnt" -> process.mountNamespace = mounts.of(process, started);
            case "user" -> {
                mounts.others().entered(process, started);
                process.ownUsers = true;
            }
            case "ipc" -> process.ipcNamespace = mounts.others().inIpcNamespace(process, started);
            case "net" -> mounts.others().networks().entered(process, mounts.others().owner(process, "net", started));
            case "pid" -> inPidNamespace(process);
            case "pid_for_children" -> childrenApart(process);
            case "uts" -> mounts.others().named(process, started);
            case "time_for_children" -> mounts.others().timed(process, started);
            case "time" -> { // where that of its children is another one, too, it is asked about that
                if (namespaces[List.of(NAMESPACES).indexOf("time_for_children")]
                        .equals(Files.readLink("/proc/" + process.task() + "/ns/time_for_children"))) {
                    throw process.refuse("it is in a time namespace of its own, and its children will not be, which "
                            + "cannot be checkpointed");
                }
            }
            case CGROUP -> {
            }
            default -> throw process.refuse("it is in a " + namespace
                    + " namespace of its own (unshare(2), a container), which cannot be checkpointed");
        }
    }

    private void inPidNamespace(TracedProcess process) {
        if (process.sharesDirectories && process.ownPid() == 1) {
            throw process.refuse("it is the first process of a pid namespace, and shares its working directory with "
                    + "its parent (clone(2) with CLONE_FS), which cannot be checkpointed");
        }
        process.inner.namespaces(
                mounts.others().pids().entered(process, process.parent, process.inner.all(), started));
    }

    private void childrenApart(TracedProcess process) {
        if (process.inner == null || !Files.readLink("/proc/" + process.task() + "/ns/pid")
                .equals(Files.readLink("/proc/" + process.task() + "/ns/pid_for_children"))) {
            process.childrenApart = true;
            mounts.others().pids().forChildren(process);
        }
    }

    /** {@link TracedProcess#seenThrough} of one that has changed its root: one of those above it has not. */
    private static String mounts(TracedProcess process) {
        if (!process.hasMountsOfItsOwn()) {
            return "";
        }
        String namespace = Files.readLink("/proc/" + process.task() + "/ns/mnt");
        for (int pid = process.pid; pid > 1; pid = Integer.parseInt(Proc.stat(pid)[1])) {
            int task = Proc.living(pid);
            if ("/".equals(Files.readLink("/proc/" + task + "/root"))
                    && namespace.equals(Files.readLink("/proc/" + task + "/ns/mnt"))) {
                return "/proc/" + task + "/root";
            }
        }
        throw process.refuse("its root directory is " + process.rootDirectory + " (chroot(2)), and no process above it "
                + "has the one in which a restart would find that");
    }

    private static void refuseUnreachable(TracedProcess process, String link, String what) {
        String path = Files.readLink("/proc/" + process.task() + "/" + link);
        String gone = path != null && Files.tryStat("/proc/" + process.task() + "/" + link) == null
                ? OpenedByName.goneOwner(path) : null;
        if (gone != null) {
            throw process.refuse(what + " " + gone + "; let it change to another directory first (chdir(2))");
        }
        if (path == null) {
            return;
        }
        Files.Stat stat = Files.stat("/proc/" + process.task() + "/" + link);
        if (path.endsWith(" (deleted)") && stat.links() == 0) {
            if (stat.type() == Files.Stat.DIRECTORY && !path.startsWith("/proc/") && process.mountNamespace == null) {
                process.workingDirectoryDeleted = true;
                return;
            }
            if (stat.type() == Files.Stat.REGULAR && process.mappings.stream()
                    .anyMatch(mapping -> mapping.deleted() && MemoryObjects.isOf(mapping, stat))) {
                process.programDeleted = true;
                return;
            }
            throw process.refuse(what + " " + OpenDescriptor.name(path) + " was deleted or replaced while it ran, so "
                    + "a restart would not find it; restore the file and start the job again");
        }
        OpenedByName.entered(process, what, path, stat);
    }

    private static void refuseThread(TracedProcess process, TracedThread thread) {
        if ((thread.policy & ~SCHED_RESET_ON_FORK) == SCHED_DEADLINE) {
            throw process.refuse(
                    "thread " + thread.tid + " has the scheduling policy SCHED_DEADLINE, which cannot be checkpointed");
        }
        String refusal = StatusLines.refusal(thread.status);
        if (refusal != null) {
            throw process.refuse(refusal + " (thread " + thread.tid + ")");
        }
    }
}
