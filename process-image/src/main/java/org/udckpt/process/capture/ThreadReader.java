package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.XTILEDATA;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.Injector;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.Registers;

/** Reads what belongs to a thread, first from outside, then by calls that only the thread itself can make. */
final class ThreadReader {
    private static final int PR_GET_TID_ADDRESS = 40, XSTATE_BV = 512;
    /**
     * rseq_cs in struct rseq; {version, flags, start_ip, post_commit_offset, abort_ip} in struct rseq_cs
     * (linux/rseq.h).
     */
    private static final int RSEQ_CS = 8, START_IP = 8, POST_COMMIT = 16, ABORT_IP = 24;

    private ThreadReader() {}

    /**
     * From outside; nothing is changed, but an rseq section that the stop broke goes to its abort handler, as the
     * kernel does.
     */
    static void read(TracedProcess process, TracedThread thread) {
        int tid = thread.tid;
        thread.xstate = Ptrace.xstate(tid);
        refuseTiles(process, thread);
        if (Ptrace.dispatchesCalls(tid)) {
            throw process.refuse("thread " + tid + " dispatches its system calls to its own handler (prctl(2), "
                    + "PR_SET_SYSCALL_USER_DISPATCH), so udckpt cannot inject any");
        }
        thread.signalMask = Ptrace.signalMask(tid);
        thread.pendingSignals = Ptrace.pendingSignals(tid, false);
        thread.rseq = Ptrace.rseq(tid);
        MemorySegment data = Scratch.data();
        LinuxError.check(Syscall.call(Syscall.GET_ROBUST_LIST, tid, data.address(), data.address() + 8),
                "robust list of thread ", tid);
        thread.robustList = data.get(JAVA_LONG, 0);
        thread.robustListLength = data.get(JAVA_LONG, 8);
        String directory = "/proc/" + process.pid + "/task/" + tid;
        thread.status = thread == process.main() ? new TaskStatus(process.status) : TaskStatus.of(process.pid, tid);
        thread.name = name(directory);
        thread.policy = (int) LinuxError.check(Syscall.call(Syscall.SCHED_GETSCHEDULER, tid),
                "scheduling policy of thread ", tid);
        LinuxError.check(Syscall.call(Syscall.SCHED_GETPARAM, tid, data.address()), "scheduling priority of thread ",
                tid);
        thread.priority = data.get(JAVA_INT, 0);
        // getpriority(2), "C library/kernel differences": the raw call returns 20 - nice
        thread.nice =
                20 - (int) LinuxError.check(Syscall.call(Syscall.GETPRIORITY, 0, tid), "nice value of thread ", tid);
        thread.ioPriority = (int) LinuxError.check(Syscall.call(Syscall.IOPRIO_GET, 1 /* IOPRIO_WHO_PROCESS */, tid),
                "I/O priority of thread ", tid);
        byte[] mask = affinity(tid);
        thread.affinity = Arrays.equals(mask, affinity(0)) ? new byte[0] : mask;
        leaveCriticalSection(process, thread);
    }

    /**
     * XSTATE_BV of the XSAVE header is at 512. A thread takes tile data only when it has used tiles, so a restore
     * cannot give it any.
     */
    private static void refuseTiles(TracedProcess process, TracedThread thread) {
        boolean tiles =
                thread.xstate.length > 520 && (thread.xstate[XSTATE_BV + XTILEDATA / 8] & 1 << XTILEDATA % 8) != 0;
        if (tiles) {
            throw process.refuse("thread " + thread.tid + " is computing with AMX tiles, which cannot be "
                    + "checkpointed; try again");
        }
    }

    /** {@code tid} 0: of this thread, which has what the launcher gave all. */
    private static byte[] affinity(int tid) {
        MemorySegment data = Scratch.data();
        long bytes = LinuxError.check(Syscall.call(Syscall.SCHED_GETAFFINITY, tid, 8192, data.address()),
                "processor affinity of thread ", tid);
        return data.asSlice(0, bytes).toArray(JAVA_BYTE);
    }

    private static void leaveCriticalSection(TracedProcess process, TracedThread thread) {
        if (thread.rseq[0] == 0) {
            return;
        }
        long section = process.memory.readLong(thread.rseq[0] + RSEQ_CS);
        if (section != 0) {
            long start = process.memory.readLong(section + START_IP);
            long rip = thread.registers.get(Registers.RIP);
            if (Long.compareUnsigned(rip - start, process.memory.readLong(section + POST_COMMIT)) < 0) {
                thread.registers.set(Registers.RIP, process.memory.readLong(section + ABORT_IP));
            }
        }
    }

    private record Asked(TracedProcess process, TracedThread thread) {}

    /**
     * Moves all threads into the parasite, and asks each for its clear_child_tid address and signal stack. The order
     * keeps a thread safe if the agent dies: the frame, then the registers that use it, then the mask that the frame
     * undoes.
     */
    static void ask(List<TracedProcess> processes) {
        List<Asked> all = processes.stream()
                .flatMap(process -> process.threads.stream().map(thread -> new Asked(process, thread))).toList();
        all.forEach(one -> enter(one.process, one.thread));
        List<Injector> injectors = all.stream().map(one -> one.thread.injector).toList();
        check(all,
                CallInAll.make(injectors,
                        i -> new long[]{Syscall.PRCTL, PR_GET_TID_ADDRESS, Parasite.results(all.get(i).thread.frame)}),
                "prctl(PR_GET_TID_ADDRESS) in thread ");
        check(all,
                CallInAll.make(injectors,
                        i -> new long[]{Syscall.SIGALTSTACK, 0, Parasite.results(all.get(i).thread.frame) + 8}),
                "sigaltstack in thread ");
        for (Asked one : all) {
            TracedThread thread = one.thread;
            MemorySegment results = Scratch.data().asSlice(0, 32);
            one.process.memory.read(Parasite.results(thread.frame), results);
            thread.clearChildTid = results.get(JAVA_LONG, 0);
            thread.altStackPointer = results.get(JAVA_LONG, 8);
            thread.altStackFlags = results.get(JAVA_INT, 16);
            thread.altStackSize = results.get(JAVA_LONG, 24);
            CutTransfer.goOn(one.process, thread);
        }
    }

    private static void check(List<Asked> threads, long[] results, String what) {
        for (int i = 0; i < results.length; i++) {
            LinuxError.check(results[i], what, threads.get(i).thread.tid);
        }
    }

    private static void enter(TracedProcess process, TracedThread thread) {
        process.parasite.writeFrame(process, thread);
        Registers base = thread.registers.copy().set(Registers.RSP, thread.frame)
                .set(Registers.RIP, process.parasite.instruction())
                .set(Registers.RAX, Syscall.GETPID).set(Registers.ORIG_RAX, -1);
        thread.injector = new Injector(thread.tid, process.parasite.instruction(), base);
        Ptrace.setRegisters(thread.tid, base);
        thread.masked = true;
        Ptrace.setSignalMask(thread.tid, -1);
    }

    /** What a process or thread is called; the file status has it with escapes. @param directory in /proc */
    static String name(String directory) {
        String name = Proc.whole(directory + "/comm");
        return name.substring(0, name.length() - 1); // a newline; the name may end with a blank
    }

    /** What the job calls it, and itself. */
    static void number(TracedProcess process, TracedThread thread, PidLevels levels) {
        boolean apart = process.inner != null;
        String line = levels.here() && !apart ? null : thread.status.field("NSpid:");
        thread.namespaceTid = line == null ? thread.tid : levels.job(line);
        if (apart) {
            process.inner.put(thread.namespaceTid, levels.below(line));
        }
    }
}
