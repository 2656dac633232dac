package org.udckpt.cli.classarchive;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.udckpt.cli.Udckpt;
import org.udckpt.launch.OwnCommandLine;
import org.udckpt.lifecycle.restart.RestartPreparation;
import org.udckpt.support.report.PrintableStream;
import org.udckpt.support.report.StandardError;

/**
 * A restart, and what its agent does by itself, for an archive of its own: a JVM takes 10 us for each class of an
 * archive when it starts, and a restart needs two thirds of those that the commands have. What a checkpoint needs
 * besides is then loaded from the jars when it writes.
 */
public final class RestartTraining {
    private static final String JOB = "archive", WARM_UP = "warm-up";
    private static final long TIMEOUT_NS = 60_000_000_000L;

    private RestartTraining() {}

    /** @param arguments the directory in which {@link Training} has left its images */
    public static void main(String[] arguments) throws Exception {
        Class.forName("org.udckpt.cli.Main"); // which begins so:
        RestartPreparation.begin();
        StandardError.install();
        PrintableStream.install();
        Path directory = Path.of(OwnCommandLine.arguments(arguments)[0]);
        Path mpi = directory.resolve("mpi");
        String images = (Files.exists(mpi) ? mpi : directory.resolve("images")).toString();
        Path end = directory.resolve("finish");
        Files.deleteIfExists(end);
        CompletableFuture<Integer> run =
                CompletableFuture.supplyAsync(() -> Udckpt.run("restart", images, "--name", JOB));
        long begin = System.nanoTime();
        boolean begun = false;
        while (!run.isDone() && System.nanoTime() - begin < TIMEOUT_NS) {
            boolean warmingUp = Thread.getAllStackTraces().keySet().stream()
                    .anyMatch(thread -> thread.getName().equals(WARM_UP));
            if (begun && !warmingUp) {
                break;
            }
            begun |= warmingUp;
            Thread.sleep(10);
        }
        Files.createFile(end);
        int code = run.get(1, TimeUnit.MINUTES);
        if (code != 0 || !begun) {
            System.err.println("training: restart ended with code " + code + (begun ? "" : ", and never warmed up"));
            System.exit(1);
        }
        System.exit(0); // whatever thread is left
    }
}
