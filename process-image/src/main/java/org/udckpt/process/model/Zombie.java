package org.udckpt.process.model;

/** A child that has ended and was not yet waited for. {@code waitStatus} as wait4(2) will report it. */
public record Zombie(int pid, int parentPid, int processGroup, int session, String name, int waitStatus) {
    private static final int SIGNALS = 64, DUMPED = 0x80;
    /**
     * Bits of signals (signal(7)) that end nobody: CHLD CONT STOP TSTP TTIN TTOU URG WINCH; that leave a core: QUIT ILL
     * TRAP ABRT BUS FPE SEGV XCPU XFSZ SYS.
     */
    private static final long HARMLESS = bits(17, 18, 19, 20, 21, 22, 23, 28),
            CORE = bits(3, 4, 5, 6, 7, 8, 11, 24, 25, 31);

    /** Whether a process can end with this status. */
    public static boolean possible(int waitStatus) {
        int signal = waitStatus & 0x7f;
        if (signal == 0) {
            return (waitStatus & ~0xff00) == 0;
        }
        boolean dumped = (waitStatus & DUMPED) != 0;
        return (waitStatus & ~0xff) == 0 && signal <= SIGNALS && (HARMLESS >> signal - 1 & 1) == 0
                && (!dumped || (CORE >> signal - 1 & 1) != 0);
    }

    /** Whether it was ended by a signal and has left a core file. */
    public boolean dumped() {
        return (waitStatus & 0x7f) != 0 && (waitStatus & DUMPED) != 0;
    }

    private static long bits(int... signals) {
        long bits = 0;
        for (int signal : signals) {
            bits |= 1L << signal - 1;
        }
        return bits;
    }
}
