package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.SIGCHLD;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Struct;

/** New processes and threads of a {@link Tracee}, with the numbers that the job has for them. */
final class TraceeClone {
    private static final int CLONE_ARGS_BYTES = 88;

    private final Tracee tracee;
    private final JobNumbers job;

    TraceeClone(Tracee tracee, JobNumbers job) {
        this.tracee = tracee;
        this.job = job;
    }

    /**
     * Makes it; returns its id for the tracer.
     *
     * @param what names it in the error
     * @param clearTid as set_tid_address(2) has it, or 0
     * @param its the pid namespace that it is in; null: the job's
     */
    int make(String what, long exitSignal, long flags, int id, long clearTid, PidSpace its) {
        return newTask(what, tryClone(exitSignal, flags, id, clearTid, its), id, its);
    }

    /** A child that shares nothing; 0 where no process can have this number (above the namespace's pid_max). */
    int makeIfPossible(String what, int id) {
        long made = tryClone(SIGCHLD, 0, id, 0, tracee.space());
        return made == -LinuxError.EINVAL ? 0 : newTask(what, made, id, tracee.space());
    }

    /**
     * clone3(2) with set_tid, which not everybody may in all pid namespaces: where it is in a user namespace of the
     * job's own, the number is the next one that the kernel would give, in the outer ones first. Its result in the
     * calling process, or {@code -errno}.
     *
     * @param its the pid namespace of the new task
     */
    private long tryClone(long exitSignal, long flags, int id, long clearTid, PidSpace its) {
        int[] ids = its == null ? new int[]{id} : its.all(id);
        long made = clone(exitSignal, flags, clearTid, ids);
        for (int chosen = ids.length - 1; made == -LinuxError.EPERM && chosen >= 0; chosen--) {
            last(its, ids, chosen);
            made = clone(exitSignal, flags, clearTid, Arrays.copyOf(ids, chosen));
        }
        return made;
    }

    /** The namespaces from this place on give the numbers that follow. */
    private void last(PidSpace its, int[] ids, int from) {
        PidSpace space = its;
        for (int i = 0; i < ids.length - 1; i++, space = space.above()) {
            if (i >= from) {
                space.last(tracee, ids[i] - 1);
            }
        }
        job.last(ids[ids.length - 1] - 1);
    }

    /** @param ids in the innermost namespace, and in the ones above it */
    private long clone(long exitSignal, long flags, long clearTid, int... ids) {
        Struct numbers = tracee.structure();
        for (int id : ids) {
            numbers.i32(id);
        }
        long at = ids.length == 0 ? 0 : numbers.put();
        // pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup
        long arguments = tracee.structure().i64(flags).i64(0).i64(clearTid).i64(0).i64(exitSignal).i64(0).i64(0).i64(0)
                .i64(at).i64(ids.length).i64(0).put();
        return tracee.tryCall(Syscall.CLONE3, arguments, CLONE_ARGS_BYTES);
    }

    /** The new task's id for the tracer, stopped and with all signals blocked. */
    private int newTask(String what, long made, int id, PidSpace its) {
        if (made != tracee.own(id)) {
            throw tracee.failed(what + ": " + (made < 0 ? LinuxError.name((int) -made) : "the kernel gave id " + made)
                    + (made == -LinuxError.EINVAL ? "; raise kernel.pid_max, if it is smaller here" : ""));
        }
        int host = tracee.newTask();
        Tracee.awaitInterrupt(host);
        if (its != null) {
            StringBuilder wanted = new StringBuilder();
            IntStream.of(its.all(id)).forEach(one -> wanted.insert(0, "\t" + one));
            String given = Proc.field(Proc.text("/proc/" + host + "/status"), "NSpid:").strip();
            if (!("\t" + given).endsWith(wanted.toString())) {
                throw tracee.failed(what + ": the kernel gave ids " + given);
            }
        }
        return host;
    }
}
