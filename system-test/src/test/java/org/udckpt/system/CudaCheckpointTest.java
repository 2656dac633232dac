package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.linux.User;

/** Checkpoints of ranks with 'device' memory on the stand-in: order, failures of each step, and what is refused. */
@Timeout(240)
class CudaCheckpointTest {
    private static final int SECONDS = 60;

    /** Without locks that were tried in vain: what a rank waited for was the kernel of one that was locked already. */
    private static List<String> withoutTries(List<String> log) {
        List<String> kept = new ArrayList<>();
        for (int i = 0; i < log.size(); i++) {
            String[] line = log.get(i).split(" ");
            Optional<String> before = last(log.subList(0, i), line[0]), next = last(log.subList(i + 1, log.size())
                    .reversed(), line[0]);
            boolean vain = line[1].equals("lock") && (!line[2].equals("0") || next.filter(one -> one.contains("unlock"))
                    .isPresent());
            boolean undone = line[1].equals("unlock") && before.filter(one -> one.contains(" lock ")).isPresent();
            if (!vain && !undone) {
                kept.add(log.get(i));
            }
        }
        return kept;
    }

    private static Optional<String> last(List<String> lines, String rank) {
        return lines.reversed().stream().filter(line -> line.startsWith(rank + " ")).findFirst();
    }

    /** All are locked before one is checkpointed, and all that were locked run again. */
    static void assertOrder(int steps, List<String> all) {
        List<String> log = withoutTries(all);
        assertEquals(steps, log.size(), all.toString());
        for (int from = 0; from < log.size(); from += 8) {
            List<String> actions = log.subList(from, Math.min(from + 8, log.size())).stream()
                    .map(line -> line.split(" ")[1]).toList();
            assertEquals(List.of("lock", "lock", "checkpoint", "checkpoint"), actions.subList(0, 4), all.toString());
            for (int rank = 0; rank < 2 && actions.size() > 4; rank++) {
                assertTrue(
                        log.subList(from + 4, from + 8).containsAll(List.of(rank + " restore 0", rank + " unlock 0")),
                        all.toString());
            }
        }
        assertTrue(log.stream().allMatch(line -> line.split(" ")[2].equals("0")), all.toString());
    }

    /** Kernels wait for each other all the time, and each round's memory is compared. */
    @Test
    void deviceMemoryComesBackInEachIncarnation() throws Exception {
        try (GpuJob job = new GpuJob()) {
            job.run();
            job.checkpoint(0);
            job.assertGoesOn();
            job.checkpoint(0, "--then", "kill");
            assertEquals(0, job.end(), job::text);
            assertOrder(12, job.log());
            assertTrue(Files.notExists(job.directory.resolve("memory-0-0")), "the stand-in's memory is left");
            job.restart("second");
            job.assertGoesOn();
            job.checkpoint(0, "--then", "kill");
            assertEquals(0, job.end(), job::text);
            job.restart("third");
            job.finish();
        }
    }

    @Tag("slow")
    @Test
    void theJobComputesWhileTheImageIsWritten() throws Exception {
        try (GpuJob job = new GpuJob()) {
            job.run("--max-rate", "5M", "--buffer", "4M");
            Process checkpoint = job.checkpointing("slow");
            try {
                job.await("the locks' end",
                        () -> withoutTries(job.log()).stream().filter(line -> line.contains("unlock")).count() == 2);
                job.assertGoesOn();
                job.assertGoesOn();
                assertTrue(checkpoint.isAlive(), () -> "the image was written too soon\n" + job.text("slow"));
                assertTrue(checkpoint.waitFor(SECONDS, TimeUnit.SECONDS));
                assertEquals(0, checkpoint.exitValue(), () -> job.text("slow"));
            } finally {
                checkpoint.destroyForcibly();
            }
            job.finish();
        }
    }

    /** Whichever step of whichever rank fails, all run again, and the next checkpoint is taken. */
    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"lock 0 error 801, 69, NCCL_P2P_DISABLE=1", "lock 1 error 600, 75, did not end within",
            "lock 0 error 401, 75, try again", "lock 1 error 304, 77, CAP_SYS_PTRACE",
            "checkpoint 0 error 801, 69, NCCL_CUMEM_ENABLE=0", "checkpoint 1 error 2, 74, CUDA_ERROR_OUT_OF_MEMORY"})
    void aStepThatFailsHurtsNobody(String trouble, int code, String words) throws Exception {
        try (GpuJob job = new GpuJob()) {
            job.run("--restart-on-failure", "0");
            job.trouble(trouble);
            String said = job.checkpoint(code);
            assertTrue(said.contains(words) && said.contains("rank " + trouble.split(" ")[1]), said);
            job.assertGoesOn();
            job.trouble();
            job.checkpoint(0, "--then", "kill");
            assertEquals(0, job.end(), job::text);
            job.restart("second");
            job.finish();
        }
    }

    /** What the driver cannot bring back ends, and the job is restarted from its last good checkpoint. */
    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"checkpoint 1 failed", "restore 0 failed", "unlock 1 failed", "lock 0 failed"})
    void aRankThatIsLostRestartsTheJob(String trouble) throws Exception {
        try (GpuJob job = new GpuJob()) {
            job.run("--restart-on-failure", "1");
            job.checkpoint(0);
            job.trouble(trouble);
            Process lost = job.checkpointing("lost");
            try {
                assertTrue(lost.waitFor(SECONDS, TimeUnit.SECONDS), () -> job.text("lost"));
                assertTrue(lost.exitValue() != 0, () -> job.text("lost"));
            } finally {
                lost.destroyForcibly();
            }
            job.await("the restart", () -> job.text().contains("the ranks run"));
            job.assertGoesOn();
            job.finish();
        }
    }

    /** Memory that another program has taken meanwhile may be free again a moment later. */
    @Test
    void aRestoreThatFailsIsTriedAgain() throws Exception {
        try (GpuJob job = new GpuJob()) {
            job.run();
            job.trouble("restore 1 error 2");
            Process checkpoint = job.checkpointing("tried");
            try {
                job.await("the first failure", () -> job.log().contains("1 restore 2"));
                job.trouble();
                assertTrue(checkpoint.waitFor(SECONDS, TimeUnit.SECONDS), () -> job.text("tried"));
                assertEquals(0, checkpoint.exitValue(), () -> job.text("tried") + job.text());
            } finally {
                checkpoint.destroyForcibly();
            }
            job.assertGoesOn();
            job.finish();
        }
    }

    /** What it has copied to host memory comes back on the GPU. */
    @Test
    void aLastCheckpointThatCannotBeWrittenLetsTheJobGoOn() throws Exception {
        try (GpuJob job = new GpuJob()) {
            SmallDisk disk = SmallDisk.mount(Files.createDirectory(Path.of(job.images())));
            assumeTrue(disk != null, "mounting a tmpfs is not permitted here");
            try (disk) {
                job.run();
                disk.shrink(64 << 10);
                job.checkpoint(73, "--then", "kill");
                assertOrder(8, job.log());
                job.assertGoesOn();
                job.finish();
            }
        }
    }

    /** GPUs write to pinned memory, which the kernel does not see. */
    @Test
    void allMemoryIsReadAlsoForIncrementalCheckpoints() throws Exception {
        try (GpuJob job = new GpuJob()) {
            job.run("--full-interval", "4");
            job.checkpoint(0);
            job.checkpoint(0);
            job.checkpoint(0);
            String said = job.say("inspect", job.images());
            assertTrue(said.matches("(?s).*\npages +0 not read .*"), said);
            assertTrue(said.matches("(?s).*\n +CUDA: locked in .* checkpointed in .* restored in .* unlocked in .*"),
                    said);
            assertTrue(said.contains("Standin A with 64.0 MiB, " + GpuJob.uuid(GpuJob.FIRST)), said);
            job.finish();
        }
    }

    /** As of UCX, which looks for GPUs in this way. */
    @Test
    void aProgramThatOnlyLoadsTheDriverIsNoneOfItsOwn() throws Exception {
        try (GpuJob job = new GpuJob()) {
            job.start(List.of(), List.of("/bin/sh", "-c", """
                    echo iteration 1; exec /lib64/ld-linux-x86-64.so.2 --preload %s /bin/sh -c \
                    'while [ ! -e finish ]; do sleep 0.05; done; echo PASS'""".formatted(job.library)));
            job.await("the ranks", () -> job.iteration() > 0);
            job.checkpoint(0);
            Files.delete(job.directory.resolve("gpus"));
            job.checkpoint(0);
            assertEquals(List.of(), job.log());
            job.finish();
        }
    }

    /** A device node of that name, in a /dev of the test's own: it is another device's in truth. */
    @Test
    void anOpenDeviceOfTheDriversIsRefused() throws Exception {
        assertRefused("/dev/nvidia0 is still open", "exec 3<>/dev/nvidia0; touch ready; %s");
    }

    @Test
    void aMappedDeviceOfTheDriversIsRefused() throws Exception {
        assertRefused("/dev/nvidia9 is still mapped", "cp " + CommandLine.artifact("standin-cuda/libcuda.so.1")
                + " /dev/nvidia9; exec /lib64/ld-linux-x86-64.so.2 --preload /dev/nvidia9"
                + " /bin/sh -c 'touch ready; %s'");
    }

    private static void assertRefused(String words, String script) throws Exception {
        assumeTrue(User.id() == 0, "device nodes are root's to make");
        Path directory = Files.createTempDirectory("udckpt-g"), probe = directory.resolve("probe");
        List<String> wrapper = List.of("unshare", "--mount", "sh", "-c",
                """
                mount -t tmpfs tmpfs %1$s && mkdir %1$s/upper %1$s/work \
                && mount -t overlay overlay -o lowerdir=/dev,upperdir=%1$s/upper,workdir=%1$s/work /dev \
                && mknod /dev/nvidia0 c 10 229 && exec "$@" """
                        .formatted(Files.createDirectory(directory.resolve("dev"))),
                "sh");
        List<String> trial = new ArrayList<>(wrapper);
        trial.addAll(List.of("sh", "-c", "exec 3<>/dev/nvidia0 && touch " + probe));
        Process possible = new ProcessBuilder(trial).redirectErrorStream(true)
                .redirectOutput(directory.resolve("possible").toFile()).start();
        assumeTrue(possible.waitFor() == 0 && Files.exists(probe), "no device nodes, overlays or FUSE here");
        CommandLine commands = new CommandLine(directory, wrapper);
        Process run = commands.start("run", "run", "--name", "job", "--dir", directory.resolve("images").toString(),
                "--", "sh", "-c", script.formatted("while [ ! -e finish ]; do sleep 0.05; done"));
        try {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            while (Files.notExists(directory.resolve("ready"))) {
                assertTrue(System.nanoTime() < end && run.isAlive(), commands.printed("run"));
                Thread.sleep(20);
            }
            assertEquals(69, new CommandLine(directory).run("refused", SECONDS, "checkpoint", "job"),
                    commands.printed("refused"));
            assertTrue(commands.printed("refused").contains(words), commands.printed("refused"));
        } finally {
            Files.writeString(directory.resolve("finish"), "");
            run.waitFor(SECONDS, TimeUnit.SECONDS);
            run.destroyForcibly();
        }
        new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
    }
}
