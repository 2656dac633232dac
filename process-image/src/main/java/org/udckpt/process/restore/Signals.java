package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.SIGCHLD;
import static org.udckpt.linux.LinuxConstants.SIGKILL;
import static org.udckpt.linux.LinuxConstants.SIGSTOP;
import static org.udckpt.linux.LinuxConstants.SIGTRAP;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.PosixTimer;
import org.udckpt.process.model.ProcessState;

/** A process's signal handlers and its pending signals. */
final class Signals {
    private static final int ACTION_BYTES = 32, INFO_BYTES = 128, LAST = 64;
    /** Offsets in siginfo_t, and a value of si_code (sigaction(2)). */
    private static final int SI_CODE = 8, SI_TIMERID = 16, SI_TIMER = -2;

    private Signals() {}

    /** @param ofThreads what waits for one of its threads */
    static void restore(Tracee tracee, ProcessState process, List<PosixTimer> timers, List<byte[]> ofThreads) {
        Batch batch = new Batch(tracee);
        // Ignoring a signal drops those that wait: children that were made and ended again have sent some
        // (sigaction(2)).
        byte[] ignore = new byte[ACTION_BYTES];
        ignore[0] = 1; // SIG_IGN
        batch.add(() -> "ignore SIGCHLD", Syscall.RT_SIGACTION, SIGCHLD, batch.bytes(ignore), 0, 8);
        for (int signal = 1; signal <= LAST; signal++) {
            byte[] action = action(process, signal);
            boolean standard = Arrays.equals(action, new byte[ACTION_BYTES]);
            if (signal != SIGKILL && signal != SIGSTOP && signal != SIGTRAP && (!standard || signal == SIGCHLD)) {
                int number = signal;
                batch.add(() -> "handler of signal " + number, Syscall.RT_SIGACTION, signal, batch.bytes(action), 0, 8);
            }
        }
        byte[] trap = action(process, SIGTRAP);
        if (!Arrays.equals(trap, new byte[ACTION_BYTES]) || trapWaits(split(process.pendingSignals()))
                || trapWaits(ofThreads)) {
            batch.run();
            tracee.endTraps();
        }
        batch.add(() -> "handler of signal " + SIGTRAP, Syscall.RT_SIGACTION, SIGTRAP, batch.bytes(trap), 0, 8);
        batch.run();
        for (byte[] info : split(process.pendingSignals())) {
            if (timer(info, timers) != null) {
                continue;
            }
            tracee.call("queue signal " + number(info), Syscall.RT_SIGQUEUEINFO, tracee.own(process.pid()),
                    number(info),
                    tracee.bytes(info));
        }
    }

    private static boolean trapWaits(List<byte[]> infos) {
        return infos.stream().anyMatch(info -> number(info) == SIGTRAP);
    }

    private static byte[] action(ProcessState process, int signal) {
        return Arrays.copyOfRange(process.signalActions(), signal * ACTION_BYTES, (signal + 1) * ACTION_BYTES);
    }

    static List<byte[]> split(byte[] queue) {
        List<byte[]> infos = new ArrayList<>();
        for (int at = 0; at + INFO_BYTES <= queue.length; at += INFO_BYTES) {
            infos.add(Arrays.copyOfRange(queue, at, at + INFO_BYTES));
        }
        return infos;
    }

    /**
     * The timer whose signal this is, or null. It has one signal at most in a queue, and counts what comes meanwhile as
     * overrun (timer_getoverrun(2)): so it makes the signal itself, where a copy would come in addition to its next
     * one.
     */
    static PosixTimer timer(byte[] info, List<PosixTimer> timers) {
        ByteBuffer fields = ByteBuffer.wrap(info).order(ByteOrder.LITTLE_ENDIAN);
        boolean fromTimer = fields.getInt(SI_CODE) == SI_TIMER;
        return timers.stream().filter(timer -> fromTimer && timer.timer() == fields.getInt(SI_TIMERID)).findFirst()
                .orElse(null);
    }

    /** si_signo. */
    static int number(byte[] info) {
        return ByteBuffer.wrap(info).order(ByteOrder.LITTLE_ENDIAN).getInt();
    }
}
