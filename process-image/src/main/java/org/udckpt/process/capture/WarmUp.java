package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.SIGKILL;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/**
 * Captures a dummy process a number of times, so that the code of the stop path is compiled before a job is stopped by
 * it. A fresh JVM's first stop takes tens of milliseconds, a warm one's a few.
 */
public final class WarmUp {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

    private WarmUp() {}

    /**
     * @param rounds at most so many
     * @param atMost and none begins later than this after the first: on a slow machine the job wants its processors
     *     back
     * @param library libudckpt.so for the dummy, or null
     */
    public static void run(int rounds, Duration atMost, Path library) {
        Process shell = null;
        int before = subreaper(1); // the snapshots' parent: nobody else may be there to reap them
        try {
            // a grandchild: a child of the JVM must not be traced; it ends when the JVM does, by its standard input
            ProcessBuilder builder =
                    new ProcessBuilder("sh", "-c", "exec 3<&0; cat <&3 3<&- >/dev/null 2>&1 & echo $!; wait");
            builder.environment().remove("UDCKPT_RUNTIME_DIR");
            if (library != null) {
                builder.environment().put("LD_PRELOAD", library.toString());
            }
            shell = builder.start();
            int pid = Integer.parseInt(shell.inputReader(StandardCharsets.US_ASCII).readLine());
            try (ProcessHandleFd dummy = new ProcessHandleFd(pid)) {
                try {
                    awaitProgram(pid, "cat"); // until then it has the shell's descriptors
                    repeat(rounds, atMost, pid);
                } finally {
                    dummy.signal(SIGKILL);
                }
            }
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot start the dummy process of the warm-up", failure);
        } finally {
            if (shell != null) {
                shell.destroy();
            }
            subreaper(before);
        }
    }

    private static void awaitProgram(int pid, String name) {
        long begin = System.nanoTime();
        while (!Proc.text("/proc/" + pid + "/comm").strip().equals(name)) {
            if (System.nanoTime() - begin > TIMEOUT_NS) {
                throw new IllegalStateException("the dummy process of the warm-up did not become " + name);
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** prctl(PR_SET_CHILD_SUBREAPER); returns the value before. */
    private static int subreaper(int value) {
        LinuxError.check(Syscall.call(Syscall.PRCTL, 37, Scratch.data().address()), "prctl(PR_GET_CHILD_SUBREAPER)");
        int before = Scratch.data().get(ValueLayout.JAVA_INT, 0);
        LinuxError.check(Syscall.call(Syscall.PRCTL, 36, value), "prctl(PR_SET_CHILD_SUBREAPER)");
        return before;
    }

    private static void repeat(int rounds, Duration atMost, int pid) {
        long begin = System.nanoTime();
        CaptureRequest request = new CaptureRequest(
                List.of(new CaptureRequest.Root(-1, pid, new int[]{0}, new long[0], CaptureRequest.NONE,
                        CaptureRequest.NONE)),
                CaptureRequest.StandardStreams.NONE);
        for (int i = 0; i < rounds && System.nanoTime() - begin < atMost.toNanos(); i++) {
            try (Capture capture = Capture.take(request)) {
                capture.image();
                capture.sources();
            }
        }
    }
}
