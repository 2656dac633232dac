package org.udckpt.agent;

/** Whether a job was asked to end, by a signal to udckpt or by another command. */
public final class EndRequest {
    private static final int SIGNAL_BITS = 0x7f; // less the 128 of a core dump, or of a shell that tells of a death

    private boolean decided;
    private long signals;

    /** A signal was passed on to the job. */
    public synchronized void signal(int number) {
        signals |= 1L << number;
        decided |= SignalForwarding.asksForEnd(number);
    }

    /** The job was not asked, but ended. */
    public synchronized void decided() {
        decided = true;
    }

    /**
     * Whether that is why the job ended with this code. INT, QUIT and TERM ask for an end in whatever way the job
     * chooses; HUP, USR1 and USR2 mean other things to many programs, so they explain a death by that signal alone (as
     * mpiexec and as shells say it: 10, 138).
     */
    public synchronized boolean explains(int code) {
        int signal = code & SIGNAL_BITS;
        return decided || signal < Long.SIZE && (signals >> signal & 1) != 0;
    }
}
