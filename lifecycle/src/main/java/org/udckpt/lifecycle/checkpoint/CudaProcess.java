package org.udckpt.lifecycle.checkpoint;

import static org.udckpt.linux.LinuxConstants.SIGKILL;

import java.time.Duration;
import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.process.cuda.CudaDriver;
import org.udckpt.process.cuda.CudaError;
import org.udckpt.process.cuda.CudaState;
import org.udckpt.process.cuda.CudaTimes;
import org.udckpt.process.cuda.SideBySide;
import org.udckpt.process.tracking.WriteTracking;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/** One process of the job that uses CUDA, and what the driver took for it. One thread at a time. */
final class CudaProcess {
    /** Another program may have what the process has let go, for a moment. */
    private static final int TRIES = 3;
    private static final long PAUSE_MS = 1000;

    private final CudaDriver driver;
    private final String name;
    private final int hostPid, pid;
    private final String library;
    private long lockNs, checkpointNs, restoreNs, unlockNs;
    /** It may be something else than running. */
    private boolean touched;

    /**
     * @param name for people
     * @param hostPid as the agent numbers it
     * @param pid as the job and its images do
     * @param library the driver's, as the process has it mapped
     */
    CudaProcess(CudaDriver driver, String name, int hostPid, int pid, String library) {
        this.driver = driver;
        this.name = name;
        this.hostPid = hostPid;
        this.pid = pid;
        this.library = library;
    }

    /** A GPU writes to pinned memory, which the kernel does not see: all of it is read. */
    void leave(WriteTracking writes) {
        if (writes.on()) {
            writes.leave(hostPid);
        }
    }

    CudaDriver driver() {
        return driver;
    }

    @Override
    public String toString() {
        return name;
    }

    CudaTimes times() {
        return new CudaTimes(pid, library, lockNs, checkpointNs, restoreNs, unlockNs);
    }

    /**
     * False: what it had submitted did not end in time, and it runs on.
     *
     * @throws Failure 75 where it does not run, 69 and others where the driver refuses it
     */
    boolean lock(Duration timeout) {
        CudaState state = state();
        if (state != CudaState.RUNNING) {
            throw new Failure(ExitCode.BUSY, name + ": its CUDA state is " + state + " already: another program "
                    + "suspends it, or an agent died meanwhile (cuda-checkpoint --get-state shows it)");
        }
        long start = System.nanoTime();
        touched = true;
        try {
            driver.lock(hostPid, timeout);
        } catch (CudaError e) {
            boolean late = e.code() == CudaError.NOT_READY || System.nanoTime() - start >= timeout.toNanos();
            if (late && state() == CudaState.RUNNING) {
                return false;
            }
            throw failure(e);
        }
        lockNs = System.nanoTime() - start;
        return true;
    }

    void checkpoint() {
        long start = System.nanoTime();
        try {
            driver.checkpoint(hostPid);
        } catch (CudaError e) {
            throw failure(e);
        }
        checkpointNs = System.nanoTime() - start;
    }

    /** It runs as before. @throws Failure where it cannot: it has been ended */
    void goOn() {
        if (!touched) {
            return;
        }
        touched = false;
        try {
            CudaState state = driver.state(hostPid);
            if (state == CudaState.CHECKPOINTED) {
                restoreNs = tried(state, () -> driver.restore(hostPid, List.of()));
                state = driver.state(hostPid);
            }
            if (state == CudaState.LOCKED) {
                unlockNs = tried(state, () -> driver.unlock(hostPid));
                state = driver.state(hostPid);
            }
            if (state != CudaState.RUNNING) {
                throw new Failure(ExitCode.IO, name + ": its CUDA state is " + state);
            }
        } catch (CudaError | Failure e) {
            if (hasEnded()) {
                Messages.debugTrace(name + " has ended by itself", e);
                return;
            }
            Failure lost = new Failure(ExitCode.IO, (e instanceof Failure ? "" : name + ": ") + e.getMessage()
                    + "; its CUDA state did not come back, so it was ended", e);
            Messages.error(lost.getMessage(), lost); // who asked for the checkpoint may not be who runs the job
            end();
            throw lost;
        }
    }

    /** How long it took. While the process stays in this state nothing is lost, and it is tried again. */
    private long tried(CudaState from, Runnable step) {
        long start = System.nanoTime();
        for (int tried = 1;; tried++) {
            try {
                step.run();
                return System.nanoTime() - start;
            } catch (CudaError e) {
                if (tried == TRIES || driver.state(hostPid) != from) {
                    throw e;
                }
                Messages.warn(name + ": " + e.getMessage() + "; trying again");
            }
            try {
                Thread.sleep(PAUSE_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Nobody may go on without the driver's answer; but who waits for it hears that. */
    void isSlow() {
        Messages.warn(SideBySide.slow(name, hostPid));
    }

    private boolean hasEnded() {
        try {
            return "ZX".contains(Proc.stat(hostPid)[0]);
        } catch (LinuxError gone) {
            return true;
        }
    }

    /** Nothing leads it back: it ends as a rank that dies, with what the job does then. */
    private void end() {
        try (ProcessHandleFd process = new ProcessHandleFd(hostPid)) {
            process.signal(SIGKILL);
        } catch (LinuxError gone) {
            Messages.debugTrace(name + " has ended by itself", gone);
        }
    }

    private CudaState state() {
        try {
            return driver.state(hostPid);
        } catch (CudaError e) {
            throw failure(e);
        }
    }

    private Failure failure(CudaError e) {
        ExitCode code = switch (e.code()) {
            case CudaError.NOT_SUPPORTED -> ExitCode.UNSUPPORTED;
            case CudaError.ILLEGAL_STATE, CudaError.NOT_READY -> ExitCode.BUSY;
            case CudaError.OPERATING_SYSTEM -> ExitCode.PERMISSION;
            default -> ExitCode.IO;
        };
        return new Failure(code, name + ": " + e.getMessage() + e.advice(), e);
    }
}
