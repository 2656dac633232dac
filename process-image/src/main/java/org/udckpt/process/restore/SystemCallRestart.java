package org.udckpt.process.restore;

import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.Registers;

/**
 * What becomes of the system call in which a thread was stopped. The kernel itself restarts it when the thread leaves
 * the restorer's stop, exactly as after the checkpoint (arch/x86/kernel/signal.c, arch_do_signal_or_restart), or turns
 * it into EINTR when a handler is to run. One case needs help, and becomes "restart, unless a handler runs"
 * (-ERESTARTNOHAND). (Calls that a stop alone ends with EINTR were made restartable by the capture.)
 */
final class SystemCallRestart {
    private static final int CLOCK_NANOSLEEP = 230;

    private SystemCallRestart() {}

    static Registers prepare(Registers stopped) {
        Registers registers = stopped.copy();
        if (registers.systemCall() < 0) {
            return registers;
        }
        if (registers.get(Registers.RAX) == -Registers.ERESTART_RESTARTBLOCK) {
            // The kernel's notes about the rest of the time are not in the image (restart_syscall(2)).
            registers.set(Registers.RAX, -Registers.ERESTARTNOHAND);
            sleepForTheRest(registers);
        }
        return registers;
    }

    /**
     * An interrupted sleep has written what is left to its last argument, when it has one: that is what is left to do.
     * The changed argument register is one that C code does not use again after the call (the psABI has it clobbered by
     * any function).
     */
    private static void sleepForTheRest(Registers registers) {
        if (registers.systemCall() == Syscall.NANOSLEEP && registers.argument(1) != 0) {
            registers.setArgument(0, registers.argument(1));
        } else if (registers.systemCall() == CLOCK_NANOSLEEP && registers.argument(3) != 0) {
            registers.setArgument(2, registers.argument(3));
        }
    }
}
