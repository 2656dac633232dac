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
import java.util.function.LongPredicate;
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
    private static final int LIMIT_BYTES = 16;
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
        Batch read = new Batch(tracee);
        long old = read.bytes(new byte[LIMIT_BYTES * (RAISED.length + 1)]);
        for (int i = 0; i <= RAISED.length; i++) {
            int limit = i < RAISED.length ? RAISED[i] : RLIMIT_NOFILE;
            read.add(() -> "limit " + limit, Syscall.PRLIMIT64, 0, limit, 0, old + LIMIT_BYTES * i);
        }
        read.run();
        ByteBuffer limits = ByteBuffer.wrap(tracee.read(old, LIMIT_BYTES * (RAISED.length + 1)))
                .order(ByteOrder.LITTLE_ENDIAN);
        Batch raise = new Batch(tracee);
        for (int i = 0; i < RAISED.length; i++) {
            set(raise, RAISED[i], hard(limits, i), _ -> true);
        }
        long hard = hard(limits, RAISED.length);
        long wanted = Long.compareUnsigned(hard, files) < 0 ? files : hard;
        int more = set(raise, RLIMIT_NOFILE, wanted, _ -> wanted != hard);
        raise.run();
        if (raise.result(more) == 0) {
            return wanted;
        }
        tracee.call("raise the limit of open files", Syscall.PRLIMIT64, 0, RLIMIT_NOFILE,
                tracee.structure().i64(hard).i64(hard).put(), 0);
        return hard;
    }

    private static long hard(ByteBuffer limits, int place) {
        return limits.getLong(LIMIT_BYTES * place + Long.BYTES);
    }

    private static int set(Batch batch, int limit, long both, LongPredicate allowed) {
        ByteBuffer values = ByteBuffer.allocate(LIMIT_BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(both).putLong(both);
        return batch.add(() -> "limit " + limit, allowed, Syscall.PRLIMIT64, 0, limit, batch.bytes(values.array()), 0);
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
        if (process.hugePagesDisabled()) {
            disableHugePages(tracee, hugePagesFlags);
        }
        Batch batch = new Batch(tracee);
        batch.add(() -> "umask", Syscall.UMASK, process.umask());
        if (process.childSubreaper()) {
            batch.add(() -> "PR_SET_CHILD_SUBREAPER", Syscall.PRCTL, PR_SET_CHILD_SUBREAPER, 1);
        }
        if (process.personality() != 0) {
            batch.add(() -> "personality", Syscall.PERSONALITY, process.personality());
        }
        batch.run();
        adjust(tracee, process.oomAdjustment());
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
     * asked for. Before it has a second thread: then the kernel would wait for a grace period each time, 15 ms and more
     * (sync_runqueues_membarrier_state, kernel/sched/membarrier.c).
     */
    static void registerBarriers(Tracee tracee, int barriers) {
        Batch batch = new Batch(tracee);
        for (int command = 1; command < 1 << 9; command <<= 1) {
            if ((barriers & command & REGISTRATIONS) != 0) {
                int one = command;
                batch.add(() -> "membarrier registration " + one, _ -> barriers < 0, Syscall.MEMBARRIER, command, 0, 0);
            }
        }
        batch.run();
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
        Batch batch = new Batch(tracee);
        for (int i = 0; 2 * i < process.limits().length; i++) {
            int limit = i;
            long hard = process.limits()[2 * i + 1];
            byte[] both = tracee.structure().i64(process.limits()[2 * i]).i64(hard).bytes();
            batch.add(() -> "its hard limit %d was %s; where that is more than here, raise it (ulimit -H) before the "
                    .formatted(limit, Long.toUnsignedString(hard)) + "restart", Syscall.PRLIMIT64, 0, limit,
                    batch.bytes(both), 0);
        }
        batch.run();
    }
}
