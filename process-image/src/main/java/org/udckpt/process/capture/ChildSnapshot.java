package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.PR_SET_NAME;
import static org.udckpt.linux.LinuxConstants.SIGCHLD;
import static org.udckpt.linux.LinuxConstants.WNOHANG;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.udckpt.linux.Files;
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
    /** Who has it may end just then. */
    private static final int ROUNDS = 5;
    private static final int RT_SIGTIMEDWAIT = 128, SIGINFO = 128;

    private ChildSnapshot() {}

    /** @param snapshot calls in it; @param room of 16 bytes in its memory */
    static void mark(Injector snapshot, ProcessMemory memory, long room) {
        memory.writeBytes(room, (NAME + "\0").getBytes(StandardCharsets.US_ASCII));
        snapshot.check("PR_SET_NAME in the snapshot", Syscall.PRCTL, PR_SET_NAME, room);
    }

    /**
     * On the tracer thread: ends it. Where its parent has ended, the first process of the namespace has it, and would
     * find a child that it does not know: that one is stopped for the moment, and its SIGCHLD taken away.
     */
    static void end(TracedProcess parent, int snapshot) {
        for (int round = 0; round < ROUNDS; round++) {
            TracedProcess holder = holder(parent, snapshot);
            if (holder == null) {
                break;
            }
            try {
                stop(holder, holder.pid == parent.pid ? parent.main().tid : holder.pid);
                if (holderOf(snapshot) == holder.pid) {
                    reap(holder, snapshot, holder.pid != parent.pid);
                    return;
                }
            } catch (CaptureFailed | CaptureRefused | LinuxError ended) {
                continue; // somebody else has the snapshot now
            } finally {
                ProcessResume.all(List.of(holder));
            }
        }
        Snapshot.kill(snapshot);
    }

    /** The process of the job whose child it is; null: the shepherd, which waits for it, or nobody. */
    private static TracedProcess holder(TracedProcess parent, int snapshot) {
        try {
            int holder = holderOf(snapshot);
            if (holder == parent.pid) {
                return parent.again();
            }
            return Files.readLink("/proc/" + holder + "/ns/pid").equals(Files.readLink("/proc/" + snapshot + "/ns/pid"))
                    ? parent.beside(holder) : null;
        } catch (LinuxError ended) {
            return null;
        }
    }

    private static int holderOf(int snapshot) {
        return Integer.parseInt(Proc.field(Proc.text("/proc/" + snapshot + "/status"), "PPid:"));
    }

    /** @param adopted an end of the snapshot would be signalled to who has it now */
    private static void reap(TracedProcess holder, int snapshot, boolean adopted) {
        int number = number(holder, snapshot);
        boolean pending = isChildSignalled(holder.pendingSignals);
        Snapshot.kill(snapshot);
        holder.main().injector.call(Syscall.WAIT4, number, 0, WNOHANG | WALL, 0);
        if (adopted && !pending && isChildSignalled(Ptrace.pendingSignals(holder.main().tid, true))) {
            long set = Parasite.results(holder.main().frame);
            ByteBuffer arguments = ByteBuffer.allocate(24).order(ByteOrder.nativeOrder()); // and a time of 0
            holder.memory.writeBytes(set, arguments.putLong(1L << SIGCHLD - 1).array());
            holder.main().injector.call(RT_SIGTIMEDWAIT, set, 0, set + 8, 8, 0);
        }
    }

    private static boolean isChildSignalled(byte[] signals) {
        ByteBuffer all = ByteBuffer.wrap(signals).order(ByteOrder.nativeOrder());
        return IntStream.range(0, signals.length / SIGINFO).anyMatch(i -> all.getInt(i * SIGINFO) == SIGCHLD);
    }

    /** As the process that has it calls it. */
    private static int number(TracedProcess holder, int snapshot) {
        int level = numbers(holder.status).length - 1;
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
