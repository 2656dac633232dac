package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.SIGCHLD;
import static org.udckpt.linux.LinuxConstants.WNOHANG;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.namespace.JobPidNamespaces;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.Zombie;
import org.udckpt.process.tree.CoreDump;
import org.udckpt.process.tree.TreeMember;

/** Children that have ended and that their stopped parents have not waited for yet. */
final class Zombies {
    private static final int EXIT_SIGNAL = 38 - 3;
    private static final int WAITID = 247, P_PID = 1, WEXITED = 4, WNOWAIT = 0x1000000, WALL = 0x40000000;
    /** Offsets in siginfo_t, and a value of si_code (sigaction(2)). */
    private static final int SI_CODE = 8, SI_PID = 16, SI_UID = 20, SI_STATUS = 24, SIGINFO = 128, CLD_EXITED = 1,
            CLD_DUMPED = 3;

    /**
     * What /proc says; {@code pid} as the agent numbers it.
     *
     * @param parents as its parent calls it
     * @param after {@link TreeMember#after}
     */
    private record Ended(int pid, TracedProcess parent, int namespacePid, int parents, int group, int session,
            String name, int user, boolean groupOutside, int after) {}

    /** @param pid as the parent calls it */
    private record Left(TracedProcess parent, int pid) {}

    private final List<Ended> all = new ArrayList<>();
    private final List<Zombie> rows = new ArrayList<>();
    private final List<Attribute> users = new ArrayList<>();
    /** Snapshots that a killed agent has left. */
    private final List<Left> left = new ArrayList<>();

    /** In the order in which their parents would wait for them, with statuses when they have been asked for. */
    List<Zombie> rows() {
        return rows;
    }

    /** As members of the tree. */
    List<TreeMember> members() {
        return all.stream().map(one -> new TreeMember(one.namespacePid, one.parent.namespacePid, one.session, one.group,
                one.groupOutside, one.after)).toList();
    }

    /** Users of dead children that had become another user: {@link AttributeKind#ENDED_CHILD}. */
    List<Attribute> users() {
        return users;
    }

    /** From outside; the parents have been read. */
    void read(List<Integer> pids, List<TracedProcess> processes, PidLevels levels, JobPidNamespaces namespaces) {
        for (int pid : pids) {
            String status;
            int signal;
            try {
                status = Proc.text("/proc/" + pid + "/status");
                signal = Integer.parseInt(Proc.stat(pid)[EXIT_SIGNAL]);
            } catch (LinuxError gone) {
                if (gone.errno() != LinuxError.ENOENT && gone.errno() != LinuxError.ESRCH) {
                    throw gone;
                }
                continue; // a parent that ignores SIGCHLD has no zombies: it went when it ended
            }
            int parentPid = Integer.parseInt(Proc.field(status, "PPid:"));
            TracedProcess parent = processes.stream().filter(process -> process.pid == parentPid).findFirst()
                    .orElseThrow(() -> new CaptureFailed(
                            "process " + pid + " has ended, and lost its parent while it was captured"));
            if (signal == 0 && parent.forksApart() && ThreadReader.name("/proc/" + pid).equals(ChildSnapshot.NAME)) {
                int level = Proc.field(parent.status, "NSpid:").split("\\s+").length - 1;
                left.add(new Left(parent, Integer.parseInt(Proc.field(status, "NSpid:").split("\\s+")[level])));
                continue;
            }
            if (signal != SIGCHLD) {
                throw refuse(parent, pid, "signalled its end by " + signal + " instead of SIGCHLD (clone(2))");
            }
            if (!"0".equals(Proc.field(status, "TracerPid:"))) {
                throw refuse(parent, pid, "has a tracer, process " + Proc.field(status, "TracerPid:")
                        + ", that has to wait for it first");
            }
            String numbers = Proc.field(status, "NSpid:");
            int[] own = levels.below(numbers);
            int depth = levels.depth(Proc.field(parent.status, "NSpid:"));
            int first = own.length == depth ? 0 : namespaces.first(pid);
            if (own.length != depth && first == 0) {
                throw new CaptureFailed(parent + ": its child " + pid + ", which has ended, was the first process of a "
                        + "pid namespace; try again when it has been waited for (wait(2))");
            }
            int[] group = levels.below(Proc.field(status, "NSpgid:"));
            Ended ended = new Ended(pid, parent, levels.job(numbers), depth == 0 ? levels.job(numbers) : own[depth - 1],
                    levels.job(Proc.field(status, "NSpgid:")), levels.job(Proc.field(status, "NSsid:")),
                    ThreadReader.name("/proc/" + pid),
                    Integer.parseUnsignedInt(Proc.field(status, "Uid:").split("\\s+")[0]),
                    own.length > 0 && group[own.length - 1] == 0, first);
            TracedProcess beside = own.length == depth ? parent : null;
            namespaces.ended(beside, pid, ended.namespacePid, own);
            namespaces.ended(beside, pid, ended.group, group);
            namespaces.ended(beside, pid, ended.session, levels.below(Proc.field(status, "NSsid:")));
            all.add(ended);
        }
        all.forEach(one -> rows
                .add(new Zombie(one.namespacePid, one.parent.namespacePid, one.group, one.session, one.name, 0)));
    }

    /**
     * How they ended is asked as their parents would: /proc does not tell it of those that this user may not look into
     * (setuid programs).
     */
    void ask() {
        left.forEach(one -> one.parent.main().injector.call(Syscall.WAIT4, one.pid, 0, WNOHANG | WALL, 0));
        left.clear();
        for (int i = 0; i < all.size(); i++) {
            Ended one = all.get(i);
            long results = Parasite.results(one.parent.main().frame);
            MemorySegment info = Scratch.data().asSlice(0, SIGINFO);
            one.parent.memory.writeBytes(results, new byte[SIGINFO]);
            long result = one.parent.main().injector.call(WAITID, P_PID, one.parents, results,
                    WEXITED | WNOHANG | WNOWAIT | WALL, 0);
            if (result < 0) {
                throw new CaptureFailed("%s: child %d has ended, and cannot be waited for (%s)".formatted(one.parent,
                        one.pid, LinuxError.name((int) -result)));
            }
            one.parent.memory.read(results, info);
            if (info.get(JAVA_INT, SI_PID) != one.parents) {
                throw new CaptureFailed(
                        "%s: child %d has ended, and cannot be waited for yet".formatted(one.parent, one.pid));
            }
            int code = info.get(JAVA_INT, SI_CODE);
            int status = info.get(JAVA_INT, SI_STATUS);
            // in a user namespace of the job's own it is told another number
            int user = one.parent.ownUsers ? one.user : info.get(JAVA_INT, SI_UID);
            String dump = code == CLD_DUMPED ? CoreDump.refusal() : null;
            if (dump != null) {
                throw refuse(one.parent, one.pid, "left a core file, and this machine could not restore that: " + dump);
            }
            keepUser(one, user);
            rows.set(i, new Zombie(one.namespacePid, one.parent.namespacePid, one.group, one.session, one.name,
                    code == CLD_EXITED ? status << 8 : code == CLD_DUMPED ? status | 0x80 : status));
        }
    }

    private void keepUser(Ended one, int user) {
        if (user == User.id()) {
            return;
        }
        if (User.id() != 0) {
            throw refuse(one.parent, one.pid, "belonged to user " + Integer.toUnsignedString(user)
                    + ", which only a checkpoint by root can restore");
        }
        users.add(Attribute.of(AttributeKind.ENDED_CHILD, one.parent.namespacePid, 0, one.namespacePid,
                Integer.toUnsignedLong(user)));
    }

    private static CaptureRefused refuse(TracedProcess parent, int pid, String what) {
        return parent.refuse("its child " + pid + ", which has ended, " + what + "; wait for it first (wait(2))");
    }
}
