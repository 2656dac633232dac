package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Function;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.PosixTimer;
import org.udckpt.process.trace.Ptrace;

/** Reads, during the stop, what the snapshot will not have: a fork inherits neither timers nor pending signals. */
final class ProcessReader {
    private static final int PR_GET_PDEATHSIG = 2, PR_GET_CHILD_SUBREAPER = 37, PR_GET_MDWE = 66,
            MEMBARRIER_CMD_GET_REGISTRATIONS = 1 << 9;

    private ProcessReader() {}

    /** From outside: nothing in the process is changed. */
    static void read(TracedProcess process, PidLevels levels) {
        process.memory = new ProcessMemory(process.task());
        process.mappings = Mapping.of(process.task());
        process.parasite = Parasite.locate(process);
        process.status = Proc.whole("/proc/" + process.task() + "/status");
        if (!"0 kB".equals(Proc.field(process.status, "VmLck:"))) {
            process.readFlags();
        }
        process.namespacePid = levels.job(Proc.field(process.status, "NStgid:"));
        process.namespaceGroup = levels.job(Proc.field(process.status, "NSpgid:"));
        process.namespaceSession = levels.job(Proc.field(process.status, "NSsid:"));
        if (levels.depth(Proc.field(process.status, "NStgid:")) > 0) {
            process.inner = InnerNumbers.of(process, levels);
        }
        process.pendingSignals = Ptrace.pendingSignals(process.main().tid, true);
        for (TracedThread thread : process.threads) {
            ThreadReader.read(process, thread);
            ThreadReader.number(process, thread, levels);
        }
        if (process.mainEnd != null) {
            process.endedMain = EndedMain.of(process);
        }
        CallFilters.read(process);
    }

    /** By calls in the stopped processes, each in all of them at once. */
    static void ask(List<TracedProcess> processes) {
        ThreadReader.ask(processes);
        for (int which = 0; which < 3; which++) {
            long timer = which;
            check(processes, "getitimer in thread ",
                    process -> new long[]{Syscall.GETITIMER, timer, results(process) + 32 * timer});
        }
        check(processes, "prctl(PR_GET_PDEATHSIG) in thread ",
                process -> new long[]{Syscall.PRCTL, PR_GET_PDEATHSIG, results(process) + 96});
        check(processes, "prctl(PR_GET_CHILD_SUBREAPER) in thread ",
                process -> new long[]{Syscall.PRCTL, PR_GET_CHILD_SUBREAPER, results(process) + 100});
        for (TracedProcess process : processes) {
            MemorySegment data = Scratch.data().asSlice(0, 104);
            process.memory.read(results(process), data);
            for (int i = 0; i < 6; i++) {
                process.intervalTimers[i] = data.get(JAVA_LONG, 16L * i) * 1_000_000 + data.get(JAVA_LONG, 16L * i + 8);
            }
            process.parentDeathSignal = data.get(JAVA_INT, 96);
            process.childSubreaper = data.get(JAVA_INT, 100) != 0;
            EndedMain.refuse(process);
        }
        long[] registrations =
                call(processes, process -> new long[]{Syscall.MEMBARRIER, MEMBARRIER_CMD_GET_REGISTRATIONS, 0, 0});
        // a fork does not have it where it is not for children
        long[] denied = call(processes, _ -> new long[]{Syscall.PRCTL, PR_GET_MDWE, 0, 0, 0, 0});
        for (int i = 0; i < processes.size(); i++) {
            TracedProcess process = processes.get(i);
            process.barriers = registrations[i] < 0 ? -1 : (int) registrations[i]; // since Linux 6.3
            process.denyWriteExecute = (int) Math.max(0, denied[i]); // since Linux 6.3
            readTimers(process);
        }
    }

    private static long results(TracedProcess process) {
        return Parasite.results(process.main().frame);
    }

    /** In the main threads. */
    static long[] call(List<TracedProcess> processes, Function<TracedProcess, long[]> call) {
        return CallInAll.make(processes.stream().map(process -> process.main().injector).toList(),
                i -> call.apply(processes.get(i)));
    }

    private static void check(List<TracedProcess> processes, String what, Function<TracedProcess, long[]> call) {
        long[] results = call(processes, call);
        for (int i = 0; i < results.length; i++) {
            LinuxError.check(results[i], what, processes.get(i).main().tid);
        }
    }

    /** /proc/PID/timers (proc_pid_timers(5)), and the time left by timer_gettime in the process. */
    private static void readTimers(TracedProcess process) {
        String text = Proc.text("/proc/" + process.pid + "/timers");
        long results = Parasite.results(process.main().frame);
        for (int at = text.indexOf("ID: "); at >= 0;) {
            int next = text.indexOf("\nID: ", at);
            String one = text.substring(at, next < 0 ? text.length() : next);
            int timer = Integer.parseInt(Proc.field(one, "ID:"));
            String[] signal = Proc.field(one, "signal:").split("/");
            String notify = Proc.field(one, "notify:"); // signal/pid.N, none/pid.N, signal/tid.N
            int target = Integer.parseInt(notify.substring(notify.indexOf('.') + 1));
            process.main().injector.check("timer_gettime", Syscall.TIMER_GETTIME, timer, results);
            MemorySegment spec = Scratch.data().asSlice(0, 32);
            process.memory.read(results, spec);
            long interval = spec.get(JAVA_LONG, 0) * 1_000_000_000L + spec.get(JAVA_LONG, 8);
            long expires = spec.get(JAVA_LONG, 16) * 1_000_000_000L + spec.get(JAVA_LONG, 24);
            boolean toThread = notify.contains("/tid.");
            int clock = Integer.parseInt(Proc.field(one, "ClockID:"));
            int notified = toThread ? namespaceTid(process, target) : 0;
            int runsBy =
                    PosixTimer.ofThread(clock) ? TimerClock.thread(process, timer, expires != 0, notified) : notified;
            if (runsBy != notified) {
                process.timerClocks.add(Attribute.of(AttributeKind.TIMER_CLOCK, process.namespacePid, runsBy, timer));
            }
            process.timers.add(new PosixTimer(process.namespacePid, timer, clock,
                    toThread ? 4 : notify.startsWith("none") ? 1 : 0, Integer.parseInt(signal[0]), notified,
                    Long.parseUnsignedLong(signal[1], 16), expires, interval));
            at = next < 0 ? -1 : next + 1;
        }
    }

    /** The kernel prints the number in the reader's namespace. */
    private static int namespaceTid(TracedProcess process, int tid) {
        for (TracedThread thread : process.threads) {
            if (thread.tid == tid) {
                return thread.namespaceTid;
            }
        }
        throw new CaptureFailed("%s: a timer signals thread %d, which is gone".formatted(process, tid),
                new LinuxError("find thread", LinuxError.ESRCH));
    }
}
