package org.udckpt.process.feature;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.linux.LinuxError;
import org.udckpt.process.capture.CaptureFailed;
import org.udckpt.process.files.FilesChanged;
import org.udckpt.process.names.NameRefused;
import org.udckpt.process.restore.RestoreException;

/**
 * A job's owner whom a test of attacks watches: takes a checkpoint of a feature program, ends it, and restarts it
 * whenever it is told to. One word a line on standard output: {@code captured PID}, then for each line of standard
 * input {@code runs} or {@code refused MESSAGE}.
 */
final class VictimMain {
    private static final int READY_MS = 20_000, RUNS_MS = 60;

    private VictimMain() {}

    /** @param arguments program and its scratch directory, and a directory of this process's own */
    public static void main(String[] arguments) throws Exception {
        Installation installation = Installation.built();
        Path work = Path.of(arguments[1]);
        Path own = Path.of(arguments[2]);
        ShepherdProcess shepherd =
                new ShepherdProcess(installation.shepherd(), own.resolve("s0"), own.resolve("output"));
        int pid = 0;
        boolean original = true;
        try {
            pid = shepherd.spawn(own.resolve("spec"), work,
                    java.util.List.of(installation.program(arguments[0]).toString(), work.toString()),
                    installation.environment());
            for (int waited = 0; !Files.exists(work.resolve("ready")); waited += 10) {
                if (waited > READY_MS) {
                    throw new IllegalStateException(arguments[0] + " is not ready: " + shepherd.printed());
                }
                Thread.sleep(10);
            }
            try (SavedJob saved = capture(pid, shepherd)) {
                shepherd.close();
                Leftovers.removeSystemV(pid);
                original = false;
                System.out.println("captured " + pid);
                serve(installation, own, work, saved);
            }
        } finally {
            shepherd.close();
            if (original) {
                Leftovers.removeSystemV(pid);
            }
            Leftovers.removeSharedMemory(pid);
        }
    }

    private static SavedJob capture(int pid, ShepherdProcess shepherd) throws InterruptedException {
        for (int attempt = 0;; attempt++) {
            try {
                return SavedJob.capture(pid, shepherd);
            } catch (CaptureFailed again) {
                if (attempt == 10) {
                    throw again;
                }
                Thread.sleep(100);
            }
        }
    }

    private static void serve(Installation installation, Path own, Path work, SavedJob saved)
            throws IOException, InterruptedException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (int n = 1; commands.readLine() != null; n++) {
            ShepherdProcess shepherd =
                    saved.newShepherd(installation.shepherd(), own.resolve("s" + n), own.resolve("output"));
            try {
                int pid = saved.restore(shepherd);
                Thread.sleep(RUNS_MS);
                boolean right = !shepherd.exited(pid) && !Files.exists(work.resolve("result"));
                System.out.println(right ? "runs" : "refused it failed after the restart: " + shepherd.printed());
            } catch (RestoreException | NameRefused | FilesChanged | LinuxError refused) {
                System.out.println("refused " + refused.getMessage().replace('\n', ' '));
            } finally {
                shepherd.close();
            }
        }
    }
}
