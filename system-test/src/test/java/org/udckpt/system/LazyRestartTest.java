package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.process.restore.lazy.Support;

/** MPI jobs that run while their memory is still being read: what can come between, and what must not. */
@Timeout(240)
class LazyRestartTest {
    private static final int MEBIBYTES = 400; // of each of two ranks: some tenths of a second at least
    private static final long LARGE = 64L << 20; // a stripe file with the processes' own memory
    private static final String RUNS = "of their memory follow", ALL_IN = "all memory is read, ";

    @BeforeAll
    static void permitted() {
        assumeTrue(Support.refusal() == null, () -> "no lazy restart here: " + Support.refusal());
    }

    /** The job's first incarnation, killed after a checkpoint. */
    private static RunningJob saved() throws Exception {
        RunningJob job = RunningJob.ballast(MEBIBYTES);
        job.checkpoint(true, true, _ -> {});
        job.assertEnds(0);
        return job;
    }

    @Tag("slow")
    @Test
    void theMemoryIsRightAndAnotherCheckpointWaitsForIt() throws Exception {
        try (RunningJob job = saved()) {
            Process second = restart(job, "second");
            try {
                job.await("the second incarnation's start", () -> errors(job, "second").contains(RUNS));
                assertTrue(job.status().at("/lazy/bytes").asLong() > 2L * MEBIBYTES << 20, job.status().toString());
                job.checkpoint(true, true, _ -> {});
                assertTrue(errors(job, "second").contains(ALL_IN), () -> errors(job, "second"));
                assertTrue(second.waitFor(60, TimeUnit.SECONDS), () -> errors(job, "second"));
            } finally {
                second.destroyForcibly();
            }
            Files.createFile(job.directory.resolve("finish"));
            assertEquals(0, job.commands.run("third", 120, "restart", job.directory.resolve("images").toString()),
                    () -> errors(job, "third"));
            assertTrue(Files.readString(job.commands.output("third")).contains("PASS"), () -> errors(job, "third"));
        }
    }

    @Tag("slow")
    @Test
    void withoutItsAgentAJobWhoseMemoryIsMissingEnds() throws Exception {
        try (RunningJob job = saved()) {
            Process second = restart(job, "second");
            job.await("the second incarnation's start", () -> errors(job, "second").contains(RUNS));
            second.destroyForcibly().waitFor();
            assertFalse(errors(job, "second").contains(ALL_IN), "too late for this test: " + errors(job, "second"));
            job.await("the end of the ranks", () -> RankProcesses.of(job.runtime()).isEmpty());
            job.await("the shepherd's last words", () -> errors(job, "second").contains("the job ends; restart it"));
            Files.createFile(job.directory.resolve("finish"));
            assertEquals(0, job.commands.run("third", 120, "restart", job.directory.resolve("images").toString()),
                    () -> errors(job, "third"));
        }
    }

    /** Also where nothing is to come in later: then the job does not begin. */
    @Tag("slow")
    @Test
    void aDamagedPieceEndsTheJobBeforeItIsUsed() throws Exception {
        try (RunningJob job = saved()) {
            Path stripe = job.directory.resolve("images/ckpt-0001/node-0000.stripe-00");
            flip(stripe, Files.size(stripe) / 8 * 7);
            assertEquals(65, job.commands.run("whole", 60, "restart", "--lazy", "no",
                    job.directory.resolve("images").toString()), () -> errors(job, "whole"));
            assertFalse(errors(job, "whole").contains(RUNS), () -> errors(job, "whole"));
            assertEquals(65, job.commands.run("second", 60, "restart", job.directory.resolve("images").toString()),
                    () -> errors(job, "second"));
            String said = errors(job, "second");
            assertTrue(said.contains(RUNS), said);
            assertTrue(said.contains("node-0000.stripe-00 at offset 0x") && said.contains("mismatch")
                    && said.contains("the job is ended"), said);
            assertEquals(List.of(), RankProcesses.of(job.runtime()), said);
            assertFalse(Files.exists(job.runtime()), "the runtime directory is left");
        }
    }

    /**
     * The heaps, which the ranks need before they can give an answer, let alone run; not what comes before and after,
     * and is read at once.
     */
    @Tag("slow")
    @Test
    void whereMuchIsDamagedNobodyIsWaitedFor() throws Exception {
        try (RunningJob job = saved()) {
            try (Stream<Path> files = Files.list(job.directory.resolve("images/ckpt-0001"))) {
                for (Path stripe : files.filter(file -> file.getFileName().toString().contains("stripe")).toList()) {
                    long length = Files.size(stripe);
                    for (long at = 1 << 20; length > LARGE && at < length / 2; at += 1 << 18) {
                        flip(stripe, at);
                    }
                }
            }
            assertEquals(65, job.commands.run("second", 120, "restart", job.directory.resolve("images").toString()),
                    () -> errors(job, "second"));
            String said = errors(job, "second");
            // it may end before it runs: the device is rebuilt from that memory
            assertTrue(said.contains("mismatch"), said);
            assertFalse(said.contains("answered within"), said);
            assertEquals(List.of(), RankProcesses.of(job.runtime()), said);
        }
    }

    /**
     * An image that is damaged where it is read before the ranks run: the restart kills the processes that exist
     * already, and does not report their ends.
     */
    @Tag("slow")
    @Test
    void aRestartThatFailsSaysOnlyWhy() throws Exception {
        try (RunningJob job = saved()) {
            try (Stream<Path> files = Files.list(job.directory.resolve("images/ckpt-0001"))) {
                for (Path stripe : files.filter(file -> file.getFileName().toString().contains("stripe")).toList()) {
                    for (long at = Files.size(stripe) - 1; at >= 0; at -= 1 << 18) {
                        flip(stripe, at);
                    }
                }
            }
            assertEquals(65, job.commands.run("second", 120, "restart", job.directory.resolve("images").toString()),
                    () -> errors(job, "second"));
            String said = errors(job, "second");
            assertTrue(said.contains("mismatch") && !said.contains("MPI_Finalize"), said);
        }
    }

    private static Process restart(RunningJob job, String name) throws Exception {
        return job.commands.start(name, "restart", job.directory.resolve("images").toString());
    }

    private static String errors(RunningJob job, String name) {
        try {
            Path file = job.directory.resolve(name + ".err");
            return Files.exists(file) ? Files.readString(file) : "";
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }

    private static void flip(Path file, long place) throws Exception {
        try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "rw")) {
            content.seek(place);
            int value = content.read();
            content.seek(place);
            content.write(value ^ 0x10);
        }
    }
}
