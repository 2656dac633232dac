package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.PR_SET_NAME;
import static org.udckpt.linux.LinuxConstants.WNOHANG;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.Injector;
import org.udckpt.process.trace.Ptrace;

/**
 * The snapshot of a process whose forks are in a pid namespace of the job's own. It cannot be an orphan that the
 * shepherd takes in: the namespace's first process would get it, with a SIGCHLD and a number that it does not know. So
 * it stays a child of the process, but one whose end is signalled by nothing, and that only wait4(2) with __WALL shows.
 * When it has been read the process is stopped once more, for the moment in which it waits for it.
 */
final class ChildSnapshot {
    /** Its comm: one that an agent has left which was killed is known by that. */
    static final String NAME = "udckpt-snapshot";
    static final int WALL = 0x40000000;

    private ChildSnapshot() {}

    /** @param snapshot calls in it; @param room of 16 bytes in its memory */
    static void mark(Injector snapshot, ProcessMemory memory, long room) {
        memory.writeBytes(room, (NAME + "\0").getBytes(StandardCharsets.US_ASCII));
        snapshot.check("PR_SET_NAME in the snapshot", Syscall.PRCTL, PR_SET_NAME, room);
    }

    /** On the tracer thread: ends it. Where its parent has ended, whoever has it now waits for it. */
    static void end(TracedProcess parent, int snapshot) {
        TracedProcess again = parent.again();
        try {
            int number = number(parent, snapshot);
            stop(again, parent.main().tid);
            Snapshot.kill(snapshot);
            again.main().injector.call(Syscall.WAIT4, number, 0, WNOHANG | WALL, 0);
        } catch (CaptureFailed | CaptureRefused | LinuxError ended) {
            Snapshot.kill(snapshot);
        } finally {
            ProcessResume.all(List.of(again));
        }
    }

    /** As the parent calls it. */
    private static int number(TracedProcess parent, int snapshot) {
        int level = numbers(parent.status).length - 1;
        return Integer.parseInt(numbers(Proc.text("/proc/" + snapshot + "/status"))[level]);
    }

    private static String[] numbers(String status) {
        return Proc.field(status, "NSpid:").split("\\s+");
    }

    /** One thread; the others run on. */
    private static void stop(TracedProcess process, int tid) {
        new Stopper(new TimedCalls()).stopAlone(process, tid);
        process.memory = new ProcessMemory(tid);
        process.mappings = Mapping.of(tid);
        process.parasite = Parasite.locate(process);
        process.status = Proc.whole("/proc/" + process.pid + "/task/" + tid + "/status");
        process.pendingSignals = Ptrace.pendingSignals(tid, true);
        ThreadReader.read(process, process.main());
        CallFilters.read(process);
        ThreadReader.ask(List.of(process));
    }
}
