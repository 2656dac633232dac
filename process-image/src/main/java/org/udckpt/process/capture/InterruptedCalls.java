package org.udckpt.process.capture;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.Registers;

/**
 * Hides a stop from the system calls that it makes fail with EINTR although no signal came (signal(7), "Interruption of
 * system calls and library functions by stop signals"). Only where the wait is without end: with a time-out the call
 * would wait its whole time again.
 */
final class InterruptedCalls {
    private static final int RT_SIGTIMEDWAIT = 128, IO_GETEVENTS = 208, SEMTIMEDOP = 220, EPOLL_PWAIT = 281,
            EPOLL_PWAIT2 = 441;
    /** The last argument has a time-out or signals in it. */
    private static final int IORING_ENTER_EXT_ARG = 8;

    private InterruptedCalls() {}

    /**
     * Turns EINTR into ERESTARTNOHAND: the kernel makes the call again, unless a signal with a handler is to be
     * delivered, and then it is EINTR after all.
     */
    static void hide(Registers registers) {
        if (registers.error() == LinuxError.EINTR && endless(registers)) {
            registers.set(Registers.RAX, -Registers.ERESTARTNOHAND);
        }
    }

    private static boolean endless(Registers registers) {
        return switch (registers.systemCall()) {
            case Syscall.SEMOP -> true;
            case SEMTIMEDOP, EPOLL_PWAIT2 -> registers.argument(3) == 0;
            case Syscall.EPOLL_WAIT, EPOLL_PWAIT -> (int) registers.argument(3) < 0;
            case RT_SIGTIMEDWAIT -> registers.argument(2) == 0;
            case Syscall.IO_URING_ENTER -> (registers.argument(3) & IORING_ENTER_EXT_ARG) == 0;
            case IO_GETEVENTS -> registers.argument(4) == 0;
            default -> false;
        };
    }
}
