package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ranks with 'device' memory on the stand-in, with an agent each, as on two hosts. */
@Timeout(240)
class CudaHostsTest {
    private static final String[] HOSTS = {"--starter", "local", "--hosts", "a:1,b:1"};

    /** Also the first one of one host is checkpointed after the last one of the other was locked. */
    @Test
    void allHostsLockBeforeOneIsCheckpointed() throws Exception {
        try (GpuJob job = new GpuJob(HOSTS)) {
            job.run();
            job.trouble("lock 1 delay 700");
            job.checkpoint(0);
            CudaCheckpointTest.assertOrder(8, job.log());
            job.trouble("lock 0 delay 700");
            job.checkpoint(0, "--then", "kill");
            CudaCheckpointTest.assertOrder(12, job.log());
            assertEquals(0, job.end(), job::text);
            job.trouble();
            job.restart("second");
            job.assertGoesOn();
            job.finish();
        }
    }

    @Tag("slow")
    @Test
    void aFailureOfOneHostLetsAllGoOn() throws Exception {
        try (GpuJob job = new GpuJob(HOSTS)) {
            job.run();
            for (String trouble : new String[]{"lock 1 error 801", "checkpoint 0 error 801"}) {
                job.trouble(trouble);
                String said = job.checkpoint(69);
                assertTrue(said.contains("NCCL_P2P_DISABLE"), said);
                job.assertGoesOn();
            }
            job.trouble();
            job.checkpoint(0);
            job.finish();
        }
    }

    /** The lead restarts it from the last good checkpoint. */
    @Tag("slow")
    @Test
    void aRankThatOneHostLosesRestartsTheJob() throws Exception {
        try (GpuJob job = new GpuJob(HOSTS)) {
            job.run("--restart-on-failure", "1");
            job.checkpoint(0);
            job.trouble("restore 1 failed");
            Process lost = job.checkpointing("lost");
            try {
                job.await("the restart", () -> job.text().contains("the ranks run"));
                assertTrue(lost.waitFor(60, TimeUnit.SECONDS), () -> job.text("lost"));
                assertTrue(lost.exitValue() != 0, () -> job.text("lost"));
            } finally {
                lost.destroyForcibly();
            }
            assertTrue(job.text().contains("so it was ended"), () -> job.text("lost") + job.text());
            job.assertGoesOn();
            job.finish();
        }
    }

    @Test
    void otherGpusOnOneHostAreRefusedBeforeAnythingIsStarted() throws Exception {
        try (GpuJob job = new GpuJob(HOSTS)) {
            job.run();
            job.checkpoint(0, "--then", "kill");
            assertEquals(0, job.end(), job::text);
            int before = job.log().size();
            job.gpus(GpuJob.SECOND + " 64 Standin B");
            String said = job.refusedRestart();
            assertTrue(said.contains("no GPU of this kind is left"), said);
            assertEquals(before, job.log().size(), job::text);
            job.gpus(GpuJob.SECOND + " 64 Standin A");
            job.restart("second");
            job.finish();
        }
    }
}
