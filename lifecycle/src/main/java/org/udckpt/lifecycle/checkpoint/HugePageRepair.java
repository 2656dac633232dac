package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.util.function.BooleanSupplier;
import org.udckpt.agent.Job;
import org.udckpt.agent.JobProcess;
import org.udckpt.linux.LinuxError;
import org.udckpt.process.huge.HugePages;
import org.udckpt.support.report.Messages;

/**
 * Gives the ranks their huge pages back after each checkpoint, once its snapshots are gone (docs/internals/capture.md).
 * It rests between, but has no nice value: the kernel locks a rank's memory for it, and a thread that has to wait for a
 * processor meanwhile has the rank wait, too.
 */
@SuppressWarnings("try") // close() waits for what is under way, and whoever closes may be interrupted
public final class HugePageRepair implements AutoCloseable {
    private static final long PERIOD_MS = 100;

    private final Job job;
    private final Thread thread;
    private BooleanSupplier busy;
    /** Guarded by this. */
    private boolean asked;
    private volatile boolean closed;

    public HugePageRepair(Job job) {
        this.job = job;
        this.thread = Thread.ofPlatform().daemon().name("huge-pages").unstarted(this::run);
    }

    /** @param checkpoint whether one is under way: no page is joined meanwhile */
    public void start(BooleanSupplier checkpoint) {
        busy = checkpoint;
        thread.start();
    }

    /** A checkpoint is complete, or a restarted job's memory is. */
    public synchronized void ask() {
        asked = true;
        notifyAll();
    }

    private void run() {
        try {
            while (awaitAsked()) {
                for (JobProcess process : job.jobRanks().processes()) {
                    if (!repair(process)) {
                        return;
                    }
                }
            }
        } catch (InterruptedException | LinuxError e) {
            Messages.warn("cannot restore ranks' huge pages after a checkpoint: " + e.getMessage());
        }
    }

    private synchronized boolean awaitAsked() throws InterruptedException {
        while (!closed && (!asked || busy.getAsBoolean())) {
            wait(PERIOD_MS);
        }
        asked = false;
        return !closed;
    }

    /** False: there is no use in going on. */
    private boolean repair(JobProcess process) {
        HugePages.Pass pass = HugePages.join(process.hostPid(), () -> closed || busy.getAsBoolean(),
                block -> job.tracking().joining(process.hostPid(), block, block + HugePages.BYTES));
        switch (pass.end()) {
            case DONE, GIVEN_UP, GONE, NO_HUGE_PAGES -> {
                return true;
            }
            case NOT_PERMITTED -> {
                Messages.debugTrace("huge pages that a checkpoint has split are left to khugepaged",
                        new IOException("process_madvise needs CAP_SYS_NICE"));
                return false;
            }
        }
        throw new AssertionError(pass);
    }

    @Override
    public void close() throws InterruptedException {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        thread.join();
    }
}
