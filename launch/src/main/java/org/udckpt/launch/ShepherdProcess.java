package org.udckpt.launch;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.SIGKILL;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NativeCall;
import org.udckpt.linux.Syscall;

/**
 * The shepherd as a child of this process. With this process's streams it is started by {@link NativeCall#spawn}, which
 * costs a young JVM nothing; with others by the JDK.
 */
final class ShepherdProcess {
    private static final int WNOHANG = 1, RUNNING = -1;
    private static final long PAUSE_MS = 1;

    private final long pid;
    /** Null: a child that the JDK does not know of. */
    private final Process process;
    private int code = RUNNING;

    private ShepherdProcess(long pid, Process process) {
        this.pid = pid;
        this.process = process;
    }

    static ShepherdProcess start(ProcessBuilder builder) throws IOException {
        if (!NativeCall.spawns() || builder.redirectInput() != ProcessBuilder.Redirect.INHERIT
                || builder.redirectOutput() != ProcessBuilder.Redirect.INHERIT
                || builder.redirectError() != ProcessBuilder.Redirect.INHERIT) {
            builder.environment().remove("LD_PRELOAD"); // static; a preload of the user's is for the ranks
            Process process = builder.start();
            return new ShepherdProcess(process.pid(), process);
        }
        long pid = NativeCall.spawn(builder.command());
        if (pid < 0) {
            throw new IOException("cannot run " + builder.command().getFirst() + ": " + LinuxError.name((int) -pid));
        }
        return new ShepherdProcess(pid, null);
    }

    long pid() {
        return pid;
    }

    /** The number of the signal that ended it, and 128, or its own code; a negative number while it runs. */
    synchronized int code() {
        if (process != null) {
            return process.isAlive() ? RUNNING : process.exitValue();
        }
        if (code == RUNNING) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment status = arena.allocate(JAVA_INT);
                long ended = Syscall.call(Syscall.WAIT4, pid, status.address(), WNOHANG, 0);
                if (ended != 0) {
                    int word = ended < 0 ? 0 : status.get(JAVA_INT, 0); // somebody else has taken it
                    code = (word & 0x7f) == 0 ? word >> 8 & 0xff : 128 + (word & 0x7f);
                }
            }
        }
        return code;
    }

    boolean alive() {
        return code() < 0;
    }

    /** Whether it has ended by then. */
    boolean await(long milliseconds) throws InterruptedException {
        long deadline = System.nanoTime() + milliseconds * 1_000_000;
        while (alive()) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            Thread.sleep(PAUSE_MS);
        }
        return true;
    }

    synchronized void kill() {
        if (alive()) { // not yet waited for: nobody else has its number
            Syscall.call(Syscall.KILL, pid, SIGKILL);
        }
    }
}
