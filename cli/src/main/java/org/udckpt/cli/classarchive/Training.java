package org.udckpt.cli.classarchive;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.udckpt.cli.Main;
import org.udckpt.cli.Udckpt;
import org.udckpt.support.report.StandardError;

/**
 * What users do, once, in one JVM: so the archive that this JVM leaves behind (scripts/archive.sh) holds the classes of
 * launcher, agent, capture, image writer and restore as they are after loading, and knows which methods are hot.
 */
public final class Training {
    private static final String JOB = "archive";
    private static final long TIMEOUT_NS = 60_000_000_000L;
    private static final int UNKNOWN_JOB = 66, USAGE = 64;

    private Training() {}

    /**
     * @param arguments a directory for the images, and an MPI program (bench/src/main/c/restart_clock.c), where there
     *     is one
     */
    public static void main(String[] arguments) throws Exception {
        StandardError.install(); // as Main does
        Path directory = Path.of(arguments[0]);
        String images = directory.resolve("images").toString();
        Path end = directory.resolve("finish");
        // Enough memory that it comes in after the restart (MemoryArrival), with children meanwhile.
        String program = "x=$(head -c 80000000 /dev/zero | tr '\\0' x); while [ -d '" + directory + "' ] && [ ! -e '"
                + end + "' ]; do sleep 0.1; done"; // also when we are killed
        live(end, "run", "--name", JOB, "--dir", images, "--", "sh", "-c", program);
        live(end, "restart", images, "--name", JOB);
        if (arguments.length > 1) {
            String of = directory.resolve("mpi").toString();
            // MiB of each
            live(end, "run", "-n", "2", "--name", JOB, "--dir", of, "--", arguments[1], "40", directory.toString());
            live(end, "restart", of, "--name", JOB);
        }
        expect(Main.run(), "the lack of a verb", USAGE);
        expect(Udckpt.run("list", images), "list");
        expect(Udckpt.run("inspect", images), "inspect");
        expect(Udckpt.run("verify", images), "verify");
        expect(Udckpt.run("diff", images + "/ckpt-0001", images), "diff");
        expect(Udckpt.run("export-core", images, "--rank", "0", "--output", directory.resolve("core").toString()),
                "export-core");
        System.exit(0); // whatever thread is left
    }

    /** An incarnation with two checkpoints, after which the program ends by itself. */
    private static void live(Path end, String... words) throws Exception {
        Files.deleteIfExists(end);
        CompletableFuture<Integer> run = CompletableFuture.supplyAsync(() -> Udckpt.run(words));
        long begin = System.nanoTime();
        int code;
        while ((code = Udckpt.run("checkpoint", JOB)) == UNKNOWN_JOB && !run.isDone()
                && System.nanoTime() - begin < TIMEOUT_NS) {
            Thread.sleep(100);
        }
        expect(code, "checkpoint");
        expect(Udckpt.run("status"), "status");
        expect(Udckpt.run("checkpoint", JOB), "checkpoint");
        Files.createFile(end);
        expect(run.get(1, TimeUnit.MINUTES), words[0]);
    }

    private static void expect(int code, String verb) {
        expect(code, verb, 0);
    }

    private static void expect(int code, String verb, int wanted) {
        if (code != wanted) {
            System.err.println("training: " + verb + " ended with code " + code);
            System.exit(1);
        }
    }
}
