package org.udckpt.lifecycle.checkpoint;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.udckpt.process.cuda.CudaTimes;
import org.udckpt.process.cuda.Gpu;
import org.udckpt.process.cuda.SideBySide;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * The CUDA state of all processes of this agent, over one stop: {@link #lock}, {@link #checkpoint}, {@link #goOn}. Each
 * step is done for all of them side by side, a thread for each: what one waits for may be another's kernel. After a
 * failure {@link #undo} brings all back to running.
 */
final class CudaSuspension {
    static final CudaSuspension NONE = new CudaSuspension(List.of(), List.of(), Duration.ZERO, true);
    /**
     * Where one rank is locked before it has launched the kernel that another rank's kernel waits for, neither can end:
     * all run again then, and it is tried anew. Of a job on several hosts that is the lead's to say.
     */
    private static final int TRIES = 5;
    private static final long PAUSE_MS = 20;

    private final List<CudaProcess> processes;
    private final List<Gpu> gpus;
    private final Duration timeout;
    private final int tries;

    /**
     * @param gpus of this host
     * @param timeout for all to be locked, a fifth for each try
     * @param alone whether the job has no ranks elsewhere
     */
    CudaSuspension(List<CudaProcess> processes, List<Gpu> gpus, Duration timeout, boolean alone) {
        this.processes = List.copyOf(processes);
        this.gpus = List.copyOf(gpus);
        this.timeout = timeout.dividedBy(TRIES);
        this.tries = alone ? TRIES : 1;
    }

    boolean isEmpty() {
        return processes.isEmpty();
    }

    /** How many there are. */
    int processes() {
        return processes.size();
    }

    /** What the driver has taken until now, for the image. */
    List<CudaTimes> times() {
        return processes.stream().map(CudaProcess::times).toList();
    }

    /** Those of this host, for the image. */
    List<Gpu> gpus() {
        return gpus;
    }

    /**
     * No process begins a CUDA call any more, and what was submitted has ended. Call it while the gates are open, and
     * on all hosts before {@link #checkpoint} on any.
     *
     * @throws Failure 75 where kernels did not end in time; all run then
     */
    void lock() {
        for (int tried = 1;; tried++) {
            List<CudaProcess> late = new ArrayList<>();
            try {
                all(process -> {
                    if (!process.lock(timeout)) {
                        synchronized (late) {
                            late.add(process);
                        }
                    }
                });
            } catch (Failure e) {
                throw undoAfter(e);
            }
            if (late.isEmpty()) {
                return;
            }
            Failure failure = new Failure(ExitCode.BUSY, "kernels of " + late + " did not end within "
                    + timeout.multipliedBy(tries).toMillis()
                    + " ms while the job's other CUDA calls waited; try again later, or with a "
                    + "longer cuda-lock-timeout");
            undoAfter(failure);
            if (tried == tries || failure.getSuppressed().length > 0) {
                throw failure;
            }
            pause();
        }
    }

    /** Device memory comes to host memory, and no process refers to a GPU. @throws Failure all run again then */
    void checkpoint() {
        try {
            all(CudaProcess::checkpoint);
        } catch (Failure e) {
            throw undoAfter(e);
        }
    }

    /** All run, with their GPUs. @throws Failure naming one that could not, and was ended */
    void goOn() {
        all(CudaProcess::goOn);
    }

    /** After a failure, from wherever it was reached. What cannot be brought back has been reported, and ended. */
    void undo() {
        try {
            goOn();
        } catch (Failure e) {
            Messages.debugTrace("after a failure", e);
        }
    }

    private Failure undoAfter(Failure failure) {
        try {
            goOn();
        } catch (Failure also) {
            failure.addSuppressed(also);
        }
        return failure;
    }

    private void all(Consumer<CudaProcess> step) {
        try {
            SideBySide.each(processes.reversed(), step, CudaProcess::isSlow);
        } catch (RuntimeException | Error e) {
            throw Failure.of("CUDA", e);
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
