package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * share/slurm/job.sh in a real Slurm: {@code ./udckpt test slurm}, which installs it. A job that is interrupted in each
 * of the ways that Slurm has prints what one that nobody disturbs prints.
 */
@Timeout(600)
@EnabledIfSystemProperty(named = "udckpt.slurm", matches = "true", disabledReason = "./udckpt test slurm runs it")
class SlurmTest {
    private static final int RANKS = 2;

    private static SlurmCluster cluster;

    @BeforeAll
    static void startSlurm() throws Exception {
        Path directory = Files.createTempDirectory("udckpt-slurm");
        cluster = SlurmCluster.start(directory);
    }

    @AfterAll
    static void stopSlurm() throws Exception {
        if (cluster != null) {
            cluster.close();
            SlurmJob.remove(cluster.directory);
        }
    }

    /** Slurm's shortest limit is a minute; USR1 may come up to a minute early. */
    @Test
    void timeLimit() throws Exception {
        try (SlurmJob job = new SlurmJob(cluster, RANKS)) {
            job.submitTurns("--time=1", "--signal=B:USR1@30");
            job.assertGoesOn();
            job.assertSaid("received USR1");
        }
    }

    @Test
    void preemption() throws Exception {
        try (SlurmJob job = new SlurmJob(cluster, RANKS)) {
            job.submitTurns("--time=10", "--nodelist=n1");
            String preferred = cluster.slurm("sbatch", "--parsable", "--partition=high", "--nodelist=n1", "--ntasks=2",
                    "--time=1", "--output=/dev/null", "--wrap", "sleep 1");
            job.assertGoesOn();
            job.assertSaid("received USR1");
            assertEquals("COMPLETED", cluster.job(preferred, "JobState"));
        }
    }

    /** Jobs that their users may not queue again, but a site's RequeueExit does. */
    @Test
    void exitCode() throws Exception {
        try (SlurmJob job = new SlurmJob(cluster, RANKS)) {
            job.submitTurns("--time=10", "--no-requeue");
            job.warn();
            job.assertGoesOn();
            job.assertSaid("did not queue job " + job.field("JobId") + " again");
        }
    }

    /** No warning: it goes on from the newest of the checkpoints that it has taken by itself, on the other node. */
    @Test
    void lostNode() throws Exception {
        try (SlurmJob job = new SlurmJob(cluster, RANKS)) {
            job.submitTurns("--time=10");
            job.awaitCheckpoint();
            String node = job.field("NodeList");
            cluster.slurm("scontrol", "update", "nodename=" + node, "state=down", "reason=test");
            try {
                cluster.await("another node",
                        () -> !job.field("NodeList").equals(node) && job.field("JobState").equals("RUNNING"));
            } finally {
                cluster.slurm("scontrol", "update", "nodename=" + node, "state=resume");
            }
            job.assertGoesOn();
        }
    }

    /** The same, when the agent and all ranks are killed at once. */
    @Test
    void requeuedByItsUser() throws Exception {
        try (SlurmJob job = new SlurmJob(cluster, RANKS)) {
            job.submitTurns("--time=10");
            job.awaitCheckpoint();
            job.slurm("scontrol", "requeue");
            job.assertGoesOn();
        }
    }
}
