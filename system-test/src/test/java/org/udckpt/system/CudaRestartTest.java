package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Restarts of ranks with 'device' memory on the stand-in: on which GPU, and where it is refused. */
@Timeout(240)
class CudaRestartTest {
    private static final String KIND = " 64 Standin A";

    private static GpuJob killed() throws Exception {
        GpuJob job = new GpuJob();
        try {
            job.run();
            job.checkpoint(0, "--then", "kill");
            assertEquals(0, job.end(), job::text);
            return job;
        } catch (Exception | Error e) {
            job.close();
            throw e;
        }
    }

    private static void assertRefused(String wanted, String said) {
        assertTrue(said.contains(wanted) && !said.contains("the ranks run"), said);
    }

    @Test
    void whereTheGpusAreOthersNothingIsStarted() throws Exception {
        try (GpuJob job = killed()) {
            int before = job.log().size();
            job.gpus(GpuJob.SECOND + " 32 Standin A");
            assertRefused("less memory", job.refusedRestart());
            assertRefused("less memory", job.refusedRestart("--plan"));
            job.gpus(GpuJob.SECOND + " 64 Standin B");
            assertRefused("no GPU of this kind is left", job.refusedRestart());
            assertRefused("of another kind",
                    job.refusedRestart("--map-gpu", GpuJob.uuid(GpuJob.FIRST) + "=" + GpuJob.uuid(GpuJob.SECOND)));
            job.gpus(GpuJob.FIRST + " 32 Standin A");
            assertRefused("has less memory", job.refusedRestart());
            Files.delete(job.directory.resolve("gpus"));
            assertRefused("CUDA_ERROR_NO_DEVICE", job.refusedRestart());
            job.gpus(GpuJob.FIRST + KIND);
            Path away = Files.move(job.library, job.directory.resolve("away"));
            assertRefused("no CUDA driver", job.refusedRestart());
            Files.move(away, job.library);
            Files.writeString(job.directory.resolve("version"), "12080");
            job.gpus(GpuJob.SECOND + KIND);
            assertRefused("driver 580", job.refusedRestart());
            Files.delete(job.directory.resolve("version"));
            assertEquals(before, job.log().size(), job::text);
            job.gpus(GpuJob.FIRST + KIND);
            job.restart("second");
            job.finish();
        }
    }

    @Test
    void theMachineCheckKnowsTheGpus() throws Exception {
        try (GpuJob job = new GpuJob()) {
            String said = job.say("check");
            assertTrue(said.contains("for CUDA 13.0; Standin A with 64.0 MiB (" + GpuJob.uuid(GpuJob.FIRST)
                    + "); checkpoints, restarts on the same or other GPUs"), said);
            Files.delete(job.directory.resolve("gpus"));
            said = job.say("check");
            assertTrue(said.contains("cannot be used: cuInit: CUDA_ERROR_NO_DEVICE (no CUDA-capable device"), said);
            job.good();
        }
    }

    private static void assertRestoredOn(GpuJob job, int from, String uuid) throws Exception {
        List<String> restored = job.log().subList(from, job.log().size()).stream()
                .filter(line -> line.contains(" restore ")).toList();
        assertEquals(2, restored.size(), job::text);
        for (String line : restored) {
            assertTrue(line.endsWith(" restore 0" + (uuid == null ? "" : " " + uuid)), job::text);
        }
    }

    @Test
    void anotherGpuOfTheKindIsTakenInOrderOrAsAsked() throws Exception {
        try (GpuJob job = killed()) {
            job.gpus(GpuJob.SECOND + KIND, GpuJob.THIRD + KIND);
            int before = job.log().size();
            job.restart("second");
            assertRestoredOn(job, before, GpuJob.SECOND);
            job.assertGoesOn();
            job.checkpoint(0, "--then", "kill");
            assertEquals(0, job.end(), job::text);

            // by now the job has two GPUs, of which it may use any: both need a place
            job.gpus(GpuJob.FIRST + KIND, GpuJob.SECOND + KIND, GpuJob.THIRD + KIND);
            int then = job.log().size();
            job.restart("third", "--restart-on-failure", "1", "--map-gpu",
                    GpuJob.uuid(GpuJob.SECOND) + "=" + GpuJob.uuid(GpuJob.FIRST));
            assertRestoredOn(job, then, GpuJob.FIRST);

            // its next checkpoint has the GPUs of this host: what was said of the first one is over
            job.checkpoint(0);
            job.trouble("checkpoint 0 failed");
            job.checkpoint(74);
            job.await("the restart", () -> job.text().split("the ranks run", -1).length == 3);
            job.assertGoesOn();
            job.finish();
        }
    }
}
