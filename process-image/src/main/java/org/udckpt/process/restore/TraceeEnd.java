package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.CLONE_NEWNS;
import static org.udckpt.linux.LinuxConstants.MS_PRIVATE;
import static org.udckpt.linux.LinuxConstants.MS_REC;
import static org.udckpt.linux.LinuxConstants.PR_SET_DUMPABLE;
import static org.udckpt.linux.LinuxConstants.RLIMIT_CORE;
import static org.udckpt.linux.LinuxConstants.SIGKILL;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.Limits;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.WaitStatus;
import org.udckpt.process.tree.CoreDump;

/** Ends a tracee, or its main thread, as the image says that it had ended. */
final class TraceeEnd {
    private static final long END_NS = TimeUnit.SECONDS.toNanos(10);

    private final Tracee tracee;

    TraceeEnd(Tracee tracee) {
        this.tracee = tracee;
    }

    /**
     * Ends it with that status of wait4(2), as that real user or as {@link Tracee#SAME_USER}, and leaves it a zombie
     * for its parent.
     */
    void end(int waitStatus, int user) {
        WaitStatus wanted = new WaitStatus(waitStatus);
        WaitStatus status;
        if (wanted.dumped()) {
            letDump();
        } else { // not 0, which a core_pattern that is a program does not care for (core(5))
            tracee.call("forbid a core file", Syscall.PRLIMIT64, 0, RLIMIT_CORE, tracee.structure().i64(1).i64(1).put(),
                    0);
        }
        if (user != Tracee.SAME_USER && user != realUser()) {
            tracee.call("setresuid", Syscall.SETRESUID, user, user, user);
        }
        if (wanted.dumped()) { // what another user is not
            tracee.call("PR_SET_DUMPABLE", Syscall.PRCTL, PR_SET_DUMPABLE, 1);
        }
        if (wanted.exited()) {
            tracee.beginLast(Syscall.EXIT_GROUP, wanted.exitCode());
            status = Ptrace.await(tracee.hostPid());
        } else {
            status = kill(wanted);
        }
        if (status.raw() != waitStatus) {
            throw tracee.failed("a child that had ended with status 0x%x could not be restored: %s (0x%x)"
                    .formatted(waitStatus, status, status.raw()));
        }
    }

    private int realUser() {
        return Integer.parseUnsignedInt(
                Proc.field(Proc.text("/proc/" + tracee.hostPid() + "/status"), "Uid:").split("\\s+")[0]);
    }

    /**
     * Ends the main thread, while others live: wait4(2) tells of that when they have ended. No call can be made
     * afterwards but in them.
     */
    void endMainThread(int exitCode) {
        // the tracer's end would leave it a SIGKILL; its other threads have the option still
        Ptrace.options(tracee.hostPid(), Tracee.OPTIONS & ~Ptrace.O_EXITKILL);
        tracee.beginLast(Syscall.EXIT, exitCode);
        for (long deadline = System.nanoTime() + END_NS;
                !Proc.threadState(tracee.hostPid(), tracee.hostPid()).equals("Z");) {
            if (System.nanoTime() > deadline) {
                throw tracee.failed("its main thread, which had ended, does not end again");
            }
            LockSupport.parkNanos(50_000);
        }
    }

    private WaitStatus kill(WaitStatus wanted) {
        if (wanted.signal() != SIGKILL) {
            byte[] standard = new byte[32]; // SIG_DFL: the launcher may ignore it (nohup)
            tracee.call("default action of signal " + wanted.signal(), Syscall.RT_SIGACTION, wanted.signal(),
                    tracee.bytes(standard),
                    0, 8);
        }
        if (wanted.signal() != SIGKILL) {
            Ptrace.setSignalMask(tracee.hostPid(), 0);
        }
        try (ProcessHandleFd self = new ProcessHandleFd(tracee.hostPid())) {
            self.signal(wanted.signal());
        }
        if (wanted.signal() != SIGKILL) { // which ends it where it stands
            Ptrace.resume(Ptrace.CONT, tracee.hostPid(), 0);
        }
        WaitStatus status;
        while (!(status = Ptrace.await(tracee.hostPid())).ended()) {
            Ptrace.resume(Ptrace.CONT, tracee.hostPid(), status.signalDelivery() ? status.signal() : 0);
        }
        return status;
    }

    /** Lets it write a small core file into a file system of its own, which ends with it: {@link CoreDump}. */
    private void letDump() {
        String refusal = CoreDump.refusal();
        if (refusal != null) {
            throw tracee.unsupported("it had ended with a core dump: " + refusal);
        }
        long most = Limits.of(tracee.hostPid())[2 * RLIMIT_CORE + 1];
        most = User.id() == 0 ? Limits.INFINITY : most;
        tracee.call("permit a core file", Syscall.PRLIMIT64, 0, RLIMIT_CORE,
                tracee.structure().i64(most).i64(most).put(), 0);
        tracee.call("unshare its mounts", Syscall.UNSHARE, CLONE_NEWNS);
        tracee.call("keep its mounts to itself", Syscall.MOUNT, 0, tracee.string("/"), 0, MS_REC | MS_PRIVATE, 0);
        tracee.call("mount a place for a core file", Syscall.MOUNT, tracee.string("tmpfs"), tracee.string("/proc"),
                tracee.string("tmpfs"), 0, 0);
        tracee.call("enter the place for a core file", Syscall.CHDIR, tracee.string("/proc"));
    }
}
