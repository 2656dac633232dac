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
import org.udckpt.linux.User;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.Zombie;
import org.udckpt.process.tree.CoreDump;

/** Children that have ended and that their stopped parents have not waited for yet. */
final class Zombies {
    private static final int EXIT_SIGNAL = 38 - 3;
    private static final int WAITID = 247, P_PID = 1, WEXITED = 4, WNOWAIT = 0x1000000, WALL = 0x40000000;
    /** Offsets in siginfo_t, and a value of si_code (sigaction(2)). */
    private static final int SI_CODE = 8, SI_PID = 16, SI_UID = 20, SI_STATUS = 24, SIGINFO = 128, CLD_EXITED = 1,
            CLD_DUMPED = 3;

    /** What /proc says; {@code pid} as the agent numbers it. */
    private record Ended(int pid, TracedProcess parent, int namespacePid, int group, int session, String name) {}

    private final List<Ended> all = new ArrayList<>();
    private final List<Zombie> rows = new ArrayList<>();
    private final List<Attribute> users = new ArrayList<>();

    /** In the order in which their parents would wait for them, with statuses when they have been asked for. */
    List<Zombie> rows() {
        return rows;
    }

    /** Users of dead children that had become another user: {@link AttributeKind#ENDED_CHILD}. */
    List<Attribute> users() {
        return users;
    }

    /** From outside; the parents have been read. */
    void read(List<Integer> pids, List<TracedProcess> processes) {
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
            if (signal != SIGCHLD) {
                throw refuse(parent, pid, "signalled its end by " + signal + " instead of SIGCHLD (clone(2))");
            }
            if (!"0".equals(Proc.field(status, "TracerPid:"))) {
                throw refuse(parent, pid, "has a tracer, process " + Proc.field(status, "TracerPid:")
                        + ", that has to wait for it first");
            }
            if (Proc.field(status, "NSpid:").split("\t").length
                    != Proc.field(parent.status, "NSpid:").split("\t").length) {
                throw refuse(parent, pid, "was the first process of its own pid namespace");
            }
            all.add(new Ended(pid, parent, ThreadReader.last(Proc.field(status, "NSpid:")),
                    ThreadReader.last(Proc.field(status, "NSpgid:")),
                    ThreadReader.last(Proc.field(status, "NSsid:")), ThreadReader.name("/proc/" + pid)));
        }
        all.forEach(one -> rows
                .add(new Zombie(one.namespacePid, one.parent.namespacePid, one.group, one.session, one.name, 0)));
    }

    /**
     * How they ended is asked as their parents would: /proc does not tell it of those that this user may not look into
     * (setuid programs).
     */
    void ask() {
        for (int i = 0; i < all.size(); i++) {
            Ended one = all.get(i);
            long results = Parasite.results(one.parent.main().frame);
            MemorySegment info = Scratch.data().asSlice(0, SIGINFO);
            one.parent.memory.writeBytes(results, new byte[SIGINFO]);
            long result = one.parent.main().injector.call(WAITID, P_PID, one.namespacePid, results,
                    WEXITED | WNOHANG | WNOWAIT | WALL, 0);
            if (result < 0) {
                throw new CaptureFailed("%s: child %d has ended, and cannot be waited for (%s)".formatted(one.parent,
                        one.pid, LinuxError.name((int) -result)));
            }
            one.parent.memory.read(results, info);
            if (info.get(JAVA_INT, SI_PID) != one.namespacePid) {
                throw new CaptureFailed(
                        "%s: child %d has ended, and cannot be waited for yet".formatted(one.parent, one.pid));
            }
            int code = info.get(JAVA_INT, SI_CODE);
            int status = info.get(JAVA_INT, SI_STATUS);
            int user = info.get(JAVA_INT, SI_UID);
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
