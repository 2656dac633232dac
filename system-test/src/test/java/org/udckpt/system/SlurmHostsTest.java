package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.udckpt.hosts.Host;
import org.udckpt.hosts.HostLab;

/**
 * Jobs over several nodes of a real Slurm, whose nodes are hosts of a {@link HostLab}: {@code ./udckpt test slurm}.
 * Nothing is said of hosts and starters but what sbatch is told, and the network of the soft fabric. Each node has two
 * processors.
 */
@Timeout(600)
@EnabledIfSystemProperty(named = "udckpt.slurm", matches = "true", disabledReason = "./udckpt test slurm runs it")
class SlurmHostsTest {
    private static final int NODES = 3, RANKS = 2;
    private static final String TWO = "--nodes=2", TIME = "--time=10";

    private static HostLab lab;
    private static SlurmCluster cluster;

    @BeforeAll
    static void startSlurm() throws Exception {
        assumeTrue(HostLab.missing().isEmpty(), HostLab.missing().orElse(""));
        Path directory = Files.createTempDirectory("udckpt-slurm");
        lab = new HostLab(1 + NODES, directory);
        cluster = SlurmCluster.start(directory, lab);
    }

    @AfterAll
    static void stopSlurm() throws Exception {
        try {
            if (cluster != null) {
                cluster.close();
                SlurmJob.remove(cluster.directory);
            }
        } finally {
            if (lab != null) {
                lab.close();
            }
        }
    }

    /** How many ranks each node has; those that have none are not in it. */
    private static Map<String, Integer> ranks() throws IOException {
        Map<String, Integer> ranks = new TreeMap<>();
        for (Host host : lab.hosts()) {
            String pids = new String(new ProcessBuilder("ip", "netns", "pids", host.namespace()).start()
                    .getInputStream().readAllBytes());
            for (String pid : pids.lines().toList()) {
                Path name = Path.of("/proc", pid, "comm");
                if (Files.exists(name) && Files.readString(name).strip().equals("stencil_cg")) {
                    ranks.merge(SlurmCluster.node(host), 1, Integer::sum);
                }
            }
        }
        return ranks;
    }

    private static void awaitRanks(Map<String, Integer> wanted, SlurmJob job) throws Exception {
        cluster.await("ranks where they should be, " + wanted + ": " + job.said(), () -> ranks().equals(wanted));
    }

    @Test
    void aJobTakesTheNodesOfItsAllocation() throws Exception {
        try (SlurmJob job = new SlurmJob(cluster, RANKS)) {
            job.submitRun(TWO, TIME, "--nodelist=n1,n3");
            job.assertSaid("srun starts its agents: n1:1,n3:1");
            assertEquals(Map.of("n1", 1, "n3", 1), ranks());
            job.assertEnds();
        }
    }

    /**
     * By hand, with the last node of the allocation as a spare: the lead is where salloc is, which has none of the
     * nodes.
     */
    @Test
    void sallocAndASpareNode() throws Exception {
        try (SlurmJob job = new SlurmJob(cluster, RANKS)) {
            String said = job.salloc(List.of("--nodes=3", "--ntasks=3"), "--spares", "1", "--restart-on-failure", "1");
            assertTrue(said.contains("srun starts its agents: n1:1,n2:1"), said);
            assertTrue(said.contains(job.answer()), said);
            cluster.await("the end of its agents", () -> ranks().isEmpty());
        }
    }

    /** Three tasks: Slurm fills one node, and so does udckpt, also in the next turn. */
    @Test
    void unevenTasksStayAsSlurmHasThem() throws Exception {
        try (SlurmJob job = new SlurmJob(cluster, 3)) {
            job.submitTurns(TWO, TIME, "--nodelist=n1,n2");
            job.assertSaid("srun starts its agents: n1:2,n2:1");
            assertEquals(Map.of("n1", 2, "n2", 1), ranks());
            job.warn();
            job.awaitTurn();
            assertEquals("ranks 0 to 1 on n1, rank 2 on n2", job.placed());
            awaitRanks(Map.of("n1", 2, "n2", 1), job);
            job.assertEnds();
        }
    }

    @Test
    void itEndsWithACheckpointAndGoesOnOnTwoNodes() throws Exception {
        try (SlurmJob job = new SlurmJob(cluster, RANKS)) {
            job.submitTurns(TWO, TIME, "--nodelist=n1,n2");
            job.warn();
            job.awaitTurn();
            assertEquals("rank 0 on n1, rank 1 on n2", job.placed());
            awaitRanks(Map.of("n1", 1, "n2", 1), job);
            job.assertGoesOn();
            job.assertSaid("received USR1");
        }
    }

    /**
     * The node with slurmd, agent and ranks is gone, not the one with the batch script: Slurm queues the job again, for
     * the two that are left.
     */
    @Test
    void itGoesOnWithoutANodeThatIsLost() throws Exception {
        try (SlurmJob job = new SlurmJob(cluster, RANKS)) {
            job.submitTurns(TWO, TIME);
            job.awaitCheckpoint();
            String batch = job.field("BatchHost");
            String lost = ranks().keySet().stream().filter(node -> !node.equals(batch)).findFirst().orElseThrow();
            List<String> left = List.of("n1", "n2", "n3").stream().filter(node -> !node.equals(lost)).toList();
            lab.hosts().stream().filter(host -> SlurmCluster.node(host).equals(lost)).findFirst().orElseThrow().crash();
            cluster.slurm("scontrol", "update", "nodename=" + lost, "state=down", "reason=test");
            try {
                job.awaitTurn();
                assertEquals("rank 0 on " + left.getFirst() + ", rank 1 on " + left.getLast(), job.placed());
                awaitRanks(Map.of(left.getFirst(), 1, left.getLast(), 1), job);
            } finally {
                cluster.startAgain(lost);
            }
            job.assertGoesOn();
        }
    }

    /** All units come to one node: it has but one. */
    @Test
    void anotherTurnCanHaveFewerNodes() throws Exception {
        try (SlurmJob job = new SlurmJob(cluster, RANKS)) {
            job.submitTurns(TWO, TIME);
            job.awaitCheckpoint();
            job.slurm("scontrol", "requeuehold");
            cluster.await("the end of the turn", () -> job.field("JobState").equals("PENDING"));
            job.update("numnodes=1");
            job.slurm("scontrol", "release");
            job.awaitTurn();
            String node = job.placed().replaceFirst(".* on ", "");
            assertEquals("rank 0 on " + node + ", rank 1 on " + node, job.placed());
            awaitRanks(Map.of(node, 2), job);
            job.assertGoesOn();
        }
    }

    /**
     * One process had all ranks, and has to again; the allocation's other node has nothing to do, and its user is told.
     */
    @Test
    void ranksOfOneProcessGoOnOnOneNodeOfSeveral() throws Exception {
        try (SlurmJob job = new SlurmJob(cluster, RANKS)) {
            job.submitTurns("--nodes=1", TIME);
            job.awaitCheckpoint();
            job.slurm("scontrol", "requeuehold");
            cluster.await("the end of the turn", () -> job.field("JobState").equals("PENDING"));
            job.update("numnodes=2-2");
            job.slurm("scontrol", "release");
            job.awaitTurn();
            assertEquals("2", job.field("NumNodes"));
            awaitRanks(Map.of(job.field("BatchHost"), 2), job);
            job.assertSaid("the allocation's other nodes stay unused");
            job.assertGoesOn();
        }
    }

    /** Whoever says -n more than there are tasks is told before anything runs. */
    @Test
    void tooFewTasksAreRefused() throws Exception {
        try (SlurmJob job = new SlurmJob(cluster, RANKS)) {
            job.submitRun(RANKS + 1, TWO, TIME);
            job.assertRefused(64, "-n");
        }
        assertTrue(ranks().isEmpty(), () -> "ranks run");
    }
}
