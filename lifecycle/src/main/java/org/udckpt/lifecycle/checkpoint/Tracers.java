package org.udckpt.lifecycle.checkpoint;

import java.util.List;
import org.udckpt.agent.RankTable;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Debuggers and the like: a process has one tracer, and one that its debugger has stopped would not reach the gate. */
final class Tracers {
    private Tracers() {}

    /** 75, before the job is stopped, where somebody traces one of its processes. */
    static void refuse(List<RankTable.Rank> ranks) {
        for (RankTable.Rank rank : ranks) {
            refuse(rank.rank(), rank.hostPid());
        }
    }

    private static void refuse(int rank, int pid) {
        try {
            String tracer = Proc.field(Proc.text("/proc/" + pid + "/status"), "TracerPid:");
            if (!tracer.equals("0")) {
                throw new Failure(ExitCode.BUSY,
                        "rank " + rank + ", process " + pid + " is traced by process " + tracer + " (" + name(tracer)
                                + "), and a process can have only one tracer: detach it first");
            }
            for (int child : Proc.children(pid)) {
                refuse(rank, child);
            }
        } catch (LinuxError ended) {
            // what that means for a checkpoint, the capture says
        }
    }

    private static String name(String pid) {
        try {
            return Proc.text("/proc/" + pid + "/comm").strip();
        } catch (LinuxError ended) {
            return "just ended";
        }
    }
}
