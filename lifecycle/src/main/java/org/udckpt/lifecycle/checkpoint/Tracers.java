package org.udckpt.lifecycle.checkpoint;

import java.util.List;
import java.util.function.Consumer;
import org.udckpt.agent.RankTable;
import org.udckpt.launch.LaunchMode;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.process.capture.CaptureFailed;
import org.udckpt.process.capture.CaptureRefused;
import org.udckpt.process.capture.CaptureRequest;
import org.udckpt.process.capture.JobTracers;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * What becomes of debuggers and the like: a process has one tracer, and one that its debugger has stopped would not
 * reach the gate. So this comes before the job is stopped.
 */
final class Tracers {
    private static final Consumer<String> NOBODY = message -> {};

    private final boolean detach;
    private final Consumer<String> hears;

    private Tracers(boolean detach, Consumer<String> hears) {
        this.detach = detach;
        this.hears = hears;
    }

    /** A job with a traced process is refused. */
    static Tracers refused() {
        return new Tracers(false, NOBODY);
    }

    /** Tracers that are processes of the job are detached. @param hears who was, in words for people */
    static Tracers detached(Consumer<String> hears) {
        return new Tracers(true, hears);
    }

    /** 75, where somebody traces a process of the job, and goes on tracing it. */
    void look(LaunchMode launch, List<RankTable.Rank> ranks) {
        if (detach) {
            detach(ranks.stream().map(rank -> root(launch, rank)).toList());
        }
        List<Integer> roots = ranks.stream().map(RankTable.Rank::hostPid).toList();
        for (RankTable.Rank rank : ranks) {
            refuse(rank.rank(), rank.hostPid(), roots);
        }
    }

    private void detach(List<CaptureRequest.Root> roots) {
        try {
            JobTracers.detach(roots).forEach(hears);
        } catch (CaptureRefused | CaptureFailed failure) {
            throw new Failure(ExitCode.BUSY, failure.getMessage(), failure);
        }
    }

    private static CaptureRequest.Root root(LaunchMode launch, RankTable.Rank rank) {
        return new CaptureRequest.Root(rank.rank(), rank.hostPid(), new int[0], new long[0], CaptureRequest.NONE,
                CaptureRequest.NONE, List.of(), launch != LaunchMode.RANKS);
    }

    private static void refuse(int rank, int pid, List<Integer> roots) {
        try {
            String tracer = Proc.field(Proc.text("/proc/" + pid + "/status"), "TracerPid:");
            if (!tracer.equals("0")) {
                throw new Failure(ExitCode.BUSY, "rank " + rank + ", process " + pid + " is traced by "
                        + JobTracers.wordsOf(Integer.parseInt(tracer), roots));
            }
            for (int child : Proc.children(pid)) {
                refuse(rank, child, roots);
            }
        } catch (LinuxError ended) {
            // what that means for a checkpoint, the capture says
        }
    }
}
