package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.PR_SET_CHILD_SUBREAPER;
import static org.udckpt.linux.LinuxConstants.PR_SET_DUMPABLE;
import static org.udckpt.linux.LinuxConstants.RLIMIT_AS;
import static org.udckpt.linux.LinuxConstants.RLIMIT_DATA;
import static org.udckpt.linux.LinuxConstants.RLIMIT_MEMLOCK;
import static org.udckpt.linux.LinuxConstants.RLIMIT_NOFILE;
import static org.udckpt.linux.LinuxConstants.RLIMIT_NPROC;
import static org.udckpt.linux.LinuxConstants.XTILEDATA;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.udckpt.linux.Files;
import org.udckpt.linux.Limits;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.ProcessState;

/** Restores a process's attributes other than memory, descriptors, signals and threads. */
final class ProcessAttributes {
    private static final int RLIMIT_STACK = 3, RLIMIT_SIGPENDING = 11;
    private static final int[] RAISED =
            {RLIMIT_DATA, RLIMIT_STACK, RLIMIT_NPROC, RLIMIT_MEMLOCK, RLIMIT_AS, RLIMIT_SIGPENDING};
    private static final int PR_SET_PDEATHSIG = 1, PR_SET_THP_DISABLE = 41;

    private static final int ARCH_REQ_XCOMP_PERM = 0x1023;
    /**
     * MEMBARRIER_CMD_REGISTER_{GLOBAL_EXPEDITED, PRIVATE_EXPEDITED, PRIVATE_EXPEDITED_SYNC_CORE,
     * PRIVATE_EXPEDITED_RSEQ},
     * linux/membarrier.h.
     */
    private static final int REGISTRATIONS = 1 << 2 | 1 << 4 | 1 << 6 | 1 << 8;

    private ProcessAttributes() {}

    /**
     * The restore needs some numbers of descriptors more than the job, and locks memory, takes address space and so on
     * before it has the job's limits: all that may be had, until {@link #restoreLimits}. A limit of the size of files,
     * of time or of processes is the user's own, which his restart keeps.
     *
     * @param files numbers of descriptors that are needed: root may have more than the hard limit
     * @return how many there may be
     */
    static long raiseLimits(Tracee tracee, long files) {
        for (int limit : RAISED) {
            long hard = hard(tracee, limit);
            set(tracee, limit, hard, hard);
        }
        long hard = hard(tracee, RLIMIT_NOFILE);
        if (Long.compareUnsigned(hard, files) < 0 && set(tracee, RLIMIT_NOFILE, files, files) == 0) {
            return files;
        }
        tracee.call("raise the limit of open files", Syscall.PRLIMIT64, 0, RLIMIT_NOFILE,
                tracee.structure().i64(hard).i64(hard).put(), 0);
        return hard;
    }

    private static long hard(Tracee tracee, int limit) {
        long old = tracee.structure().i64(0).i64(0).put();
        tracee.call("limit " + limit, Syscall.PRLIMIT64, 0, limit, 0, old);
        return ByteBuffer.wrap(tracee.read(old, 16)).order(ByteOrder.LITTLE_ENDIAN).getLong(8);
    }

    private static long set(Tracee tracee, int limit, long soft, long hard) {
        return tracee.tryCall(Syscall.PRLIMIT64, 0, limit, tracee.structure().i64(soft).i64(hard).put(), 0);
    }

    /**
     * Before signal stacks are known: they must be large enough for what is permitted (arch_prctl(2),
     * ARCH_REQ_XCOMP_PERM).
     */
    static void permitVectors(Tracee tracee, ProcessState process) {
        if ((process.vectorPermissions() >> XTILEDATA & 1) != 0) {
            long result = tracee.tryCall(Syscall.ARCH_PRCTL, ARCH_REQ_XCOMP_PERM, XTILEDATA);
            if (result < 0) {
                throw tracee.unsupported("it uses AMX, which this processor or kernel does not permit ("
                        + LinuxError.name((int) -result) + "); restart on a machine like that of the checkpoint");
            }
        }
    }

    static void enter(Tracee tracee, ProcessState process, NamedFiles files) {
        String path = process.workingDirectory();
        long opened = files.tryOpenSeen(tracee, path, Syscall.O_PATH | Syscall.O_DIRECTORY | Syscall.O_CLOEXEC);
        long entered = opened < 0 ? opened : tracee.tryCall(Syscall.FCHDIR, opened);
        if (entered < 0) {
            throw tracee.changed("cannot enter its working directory " + path + ": " + LinuxError.name((int) -entered));
        }
        tracee.call("close", Syscall.CLOSE, opened);
    }

    /** @param hugePagesFlags of PR_SET_THP_DISABLE (Linux 6.18) */
    static void restore(Tracee tracee, ProcessState process, long hugePagesFlags) {
        tracee.call("umask", Syscall.UMASK, process.umask());
        if (process.hugePagesDisabled()) {
            disableHugePages(tracee, hugePagesFlags);
        }
        if (process.childSubreaper()) {
            tracee.call("PR_SET_CHILD_SUBREAPER", Syscall.PRCTL, PR_SET_CHILD_SUBREAPER, 1);
        }
        registerBarriers(tracee, process.barriers());
        adjust(tracee, process.oomAdjustment());
        if (process.personality() != 0) {
            tracee.call("personality", Syscall.PERSONALITY, process.personality());
        }
    }

    /** A kernel that does not know exceptions makes none. */
    private static void disableHugePages(Tracee tracee, long flags) {
        if (flags == 0 || tracee.tryCall(Syscall.PRCTL, PR_SET_THP_DISABLE, 1, flags, 0, 0) != 0) {
            tracee.call("PR_SET_THP_DISABLE", Syscall.PRCTL, PR_SET_THP_DISABLE, 1, 0, 0, 0);
        }
    }

    /** What a change of the user clears (prctl(2)): when there is none any more. */
    static void restoreLast(Tracee tracee, ProcessState process) {
        if (process.parentDeathSignal() != 0) {
            tracee.call("PR_SET_PDEATHSIG", Syscall.PRCTL, PR_SET_PDEATHSIG, process.parentDeathSignal());
        }
        tracee.call("PR_SET_DUMPABLE", Syscall.PRCTL, PR_SET_DUMPABLE, process.dumpable() ? 1 : 0);
    }

    /**
     * What the address space was registered for; where the kernel did not say it, for all that a program could have
     * asked for.
     */
    private static void registerBarriers(Tracee tracee, int barriers) {
        for (int command = 1; command < 1 << 9; command <<= 1) {
            if ((barriers & command & REGISTRATIONS) != 0) {
                long result = tracee.tryCall(Syscall.MEMBARRIER, command, 0, 0);
                if (result != 0 && barriers >= 0) {
                    throw tracee.failed("membarrier registration " + command + ": " + LinuxError.name((int) -result));
                }
            }
        }
    }

    /**
     * Lower than now needs CAP_SYS_RESOURCE (proc_pid_oom_score_adj(5)), and without it the job is only more likely to
     * be killed.
     */
    private static void adjust(Tracee tracee, int value) {
        String path = "/proc/" + tracee.hostPid() + "/oom_score_adj";
        if (Integer.parseInt(Proc.text(path).strip()) != value) {
            long fd = Files.tryOpen(path, Syscall.O_WRONLY);
            byte[] text = Integer.toString(value).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
            long written = fd;
            if (fd >= 0) {
                written = Syscall.call(Syscall.WRITE, fd, Scratch.string(Integer.toString(value)), text.length);
                Files.close((int) fd);
            }
            if (written < 0) {
                System.err.println("udckpt: " + tracee.name() + ": oom_score_adj " + value + " could not be set: "
                        + LinuxError.name((int) -written));
            }
        }
    }

    /**
     * Whether the job's hard limits can be had here: only root may raise them. Asked before anything is made.
     *
     * @throws RestoreException naming the limit, and what it has to be
     */
    static void checkLimits(JobImage image, Owners owners) {
        if (User.id() == 0) {
            return;
        }
        long[] here = Limits.of((int) ProcessHandle.current().pid());
        for (ProcessState process : image.processes()) {
            for (int limit = 0; 2 * limit + 1 < Math.min(here.length, process.limits().length); limit++) {
                if (Long.compareUnsigned(process.limits()[2 * limit + 1], here[2 * limit + 1]) > 0) {
                    throw owners.of(process.pid()).unsupported(
                            "its hard limit of %s (%s) was %s, and here it is %s: raise it before the restart"
                                    .formatted(Limits.NAMES[limit][0], Limits.NAMES[limit][1],
                                            Limits.text(process.limits()[2 * limit + 1]),
                                            Limits.text(here[2 * limit + 1])));
                }
            }
        }
    }

    /** After everything that a limit could forbid. */
    static void restoreLimits(Tracee tracee, ProcessState process) {
        for (int limit = 0; 2 * limit < process.limits().length; limit++) {
            long soft = process.limits()[2 * limit];
            long hard = process.limits()[2 * limit + 1];
            long result = tracee.tryCall(Syscall.PRLIMIT64, 0, limit, tracee.structure().i64(soft).i64(hard).put(), 0);
            if (result == -LinuxError.EPERM) {
                throw tracee.failed("its hard limit %d was %s, more than here; raise it (ulimit -H) before the restart"
                        .formatted(limit, Long.toUnsignedString(hard)));
            }
            LinuxError.check(result, tracee.name() + ": limit " + limit);
        }
    }
}
