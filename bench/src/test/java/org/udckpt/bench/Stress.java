package org.udckpt.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.udckpt.bench.command.Command;
import org.udckpt.bench.command.JobStatus;
import org.udckpt.bench.command.UdckptCommand;

/** One mpi_stress job of four ranks on two simulated hosts, through all its incarnations. */
final class Stress implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private final UdckptCommand udckpt;
    private final Path images;
    private final Path finishFile;
    private final String name;
    private final Random random;
    private Command run;
    private String job;
    private int incarnations;
    private JobStatus seen; // in this incarnation; who the ranks are does not change

    Stress(Path directory, String name, long seed, Map<String, String> environment) throws IOException {
        this.name = name + "-" + ProcessHandle.current().pid();
        random = new Random(seed);
        images = directory.resolve("images");
        finishFile = directory.resolve("finish");
        Map<String, String> all = new HashMap<>(environment);
        // a small image: how much memory there is to write is not what is looked at
        all.putIfAbsent("UCX_UD_VERBS_RX_QUEUE_LEN", "512");
        udckpt = new UdckptCommand(Path.of(System.getProperty("udckpt.root")),
                Files.createDirectories(directory.resolve("cwd")), all);
        System.out.println(name + ": seed " + seed);
    }

    void start() throws IOException {
        job = name;
        var words = new ArrayList<>(
                List.of("run", "-n", "4", "--hosts", "a:2,b:2", "--name", job, "--dir", images.toString(), "--"));
        words.addAll(List.of(udckpt.program("mpi_stress").toString(), "--progress", "1", "--finish-file",
                finishFile.toString()));
        run = udckpt.start(line -> {}, words);
    }

    /** Lets the job do some iterations, then waits up to half a second more. */
    void goOn(int iterations) throws InterruptedException {
        int until = progress() + iterations;
        if (!run.output().await(line -> line.startsWith("iteration "), until, LIMIT)) {
            throw new AssertionError("incarnation " + incarnations + " of the job stands still or ended after "
                    + progress() + " iterations: " + run.describe());
        }
        Thread.sleep(random.nextInt(500));
    }

    private int progress() {
        return (int) run.output().lines().stream().filter(line -> line.startsWith("iteration ")).count();
    }

    String checkpoint() throws IOException, InterruptedException {
        return udckpt.checkpoint(job);
    }

    JobStatus status() throws IOException, InterruptedException {
        return seen = udckpt.status(job);
    }

    /** {@code kill -9} of all ranks, then a restart from the checkpoint {@code id} under a new job name. */
    void killAndRestart(String id) throws IOException, InterruptedException {
        (seen != null ? seen : status()).killRanks();
        seen = null;
        assertTrue(run.await(LIMIT) != 0, () -> "a killed job can not end with 0: " + run.describe());
        incarnations++;
        job = name + "-" + incarnations;
        run = udckpt.start(line -> {}, List.of("restart", images.resolve(id).toString(), "--name", job));
    }

    /** Tells the job to end; every value that any rank received in this incarnation has to be right. */
    void finish() throws IOException, InterruptedException {
        Files.createFile(finishFile);
        int code = run.await(LIMIT);
        assertEquals(0, code, run::describe);
        String last = run.output().allLines().getLast();
        assertTrue(last.startsWith("PASS 4 ranks"), run::describe);
        System.out.println(name + ": " + last);
    }

    @Override
    public void close() {
        if (run != null) {
            run.close();
        }
    }
}
