package org.udckpt.process.restore;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Struct;
import org.udckpt.process.model.PosixTimer;
import org.udckpt.process.model.ProcessState;

/** A process's interval timers and its POSIX timers; armed as late as possible. */
final class Timers {
    private static final int PR_TIMER_CREATE_RESTORE_IDS = 77;
    /** How many ids may lie between two timers when the kernel cannot be asked for one; a create and delete each. */
    private static final int MOST_STEPS = 1 << 16;
    private static final int SIGEVENT_BYTES = 64, ITIMER_REAL = 0, SIGALRM = 14;

    private Timers() {}

    /** @param clocks by timer, the thread whose CPU time it runs by, where that is not the one that it signals */
    static void restore(Tracee tracee, ProcessState process, List<PosixTimer> timers, Map<Integer, Integer> clocks,
            Threads threads) {
        for (int which = 0; which < 3; which++) {
            long interval = process.intervalTimers()[2 * which];
            long value = process.intervalTimers()[2 * which + 1];
            if (which == ITIMER_REAL && value == 0 && interval != 0) {
                value = alarmPending(process) ? interval : 1;
            }
            if (value != 0) {
                long setting = tracee.structure().i64(interval / 1_000_000).i64(interval % 1_000_000)
                        .i64(value / 1_000_000).i64(value % 1_000_000).put();
                tracee.call("setitimer " + which, Syscall.SETITIMER, which, setting, 0);
            }
        }
        if (timers.isEmpty()) {
            return;
        }
        boolean chosen = tracee.tryCall(Syscall.PRCTL, PR_TIMER_CREATE_RESTORE_IDS, 1, 0, 0, 0) == 0; // Linux 6.16
        for (PosixTimer timer : timers.stream().sorted(Comparator.comparingInt(PosixTimer::timer)).toList()) {
            int clock = clocks.getOrDefault(timer.timer(), timer.notifyThread());
            make(tracee, timer, chosen, PosixTimer.ofThread(timer.clock()) ? threads.host(clock) : tracee.hostPid());
        }
        if (chosen) {
            tracee.call("PR_TIMER_CREATE_RESTORE_IDS", Syscall.PRCTL, PR_TIMER_CREATE_RESTORE_IDS, 0, 0, 0, 0);
        }
        Set<PosixTimer> signalled = new HashSet<>(); // they expire at once, so that their signal is pending as it was
        Stream.concat(Signals.split(process.pendingSignals()).stream(), threads.pendingSignals().stream())
                .forEach(info -> signalled.add(Signals.timer(info, timers)));
        for (PosixTimer timer : timers) {
            long expires = signalled.contains(timer) ? 1 : timer.expiresNs();
            if (expires != 0) {
                tracee.call("timer_settime " + timer.timer(), Syscall.TIMER_SETTIME, timer.timer(), 0,
                        tracee.structure().time(timer.intervalNs()).time(expires).put(), 0);
            }
        }
    }

    /**
     * A periodic ITIMER_REAL that has expired starts again when its signal is taken, and reads as 0 until then
     * (kernel/time/itimer.c).
     */
    private static boolean alarmPending(ProcessState process) {
        return Signals.split(process.pendingSignals()).stream().anyMatch(info -> Signals.number(info) == SIGALRM);
    }

    /**
     * {@code thread}: whose CPU time counts, if that is its clock; who is signalled is who has made it. Older kernels
     * number the timers of a process upwards: make and delete until it is this one's turn.
     */
    private static void make(Tracee tracee, PosixTimer timer, boolean chosen, int thread) {
        for (int step = 0; step < MOST_STEPS; step++) {
            long id = tracee.structure().i32(timer.timer()).put();
            Struct event = tracee.structure().i64(timer.value()).i32(timer.signal()).i32(timer.notification())
                    .i32(tracee.own(timer.notifyThread()));
            event.raw(new byte[SIGEVENT_BYTES - event.size()]);
            tracee.callIn(thread, "timer_create " + timer.timer(), Syscall.TIMER_CREATE, timer.clock(), event.put(),
                    id);
            int made = tracee.readInt(id);
            if (made == timer.timer()) {
                return;
            }
            tracee.call("timer_delete", Syscall.TIMER_DELETE, made);
            if (chosen || made > timer.timer()) {
                throw tracee.failed("timer " + timer.timer() + ": the kernel gave id " + made);
            }
        }
        throw tracee.unsupported(
                "timer id " + timer.timer() + " is out of reach on this kernel; Linux 6.16 can be asked for it");
    }
}
