package org.udckpt.job.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.udckpt.job.hosts.Host;
import org.udckpt.job.hosts.HostLab;

/**
 * Jobs over several nodes of a real Slurm, whose nodes are hosts of a {@link HostLab}: {@code ./udckpt test slurm}. Nothing is said of hosts and starters but what
 * sbatch is told, and the network of the soft fabric.
 */
@Timeout(600)
@EnabledIfSystemProperty(named = "udckpt.slurm", matches = "true", disabledReason = "./udckpt test slurm runs it")
class SlurmHostsTest {
    private static final Path ROOT = Path.of(System.getProperty("udckpt.root"));
    private static final int NODES = 3;
    private static final String RANKS = "2";
    private static final int EARLY_LINES = 20;

    private static HostLab lab;
    private static SlurmCluster cluster;
    private static String wanted;

    private Path directory;
    private String job;
    private boolean good;

    @BeforeAll
    static void startSlurm() throws Exception {
        assumeTrue(HostLab.missing().isEmpty(), HostLab.missing().orElse(""));
        Path directory = Files.createTempDirectory("udckpt-slurm");
        lab = new HostLab(1 + NODES, directory);
        cluster = SlurmCluster.start(directory, lab);
        CommandLine commands = new CommandLine(directory);
        List<String> words = new ArrayList<>(List.of("run", "-n", RANKS, "--"));
        words.addAll(program("no-brake"));
        assertEquals(0, commands.run("undisturbed", 120, words.toArray(String[]::new)), commands.printed("undisturbed"));
        wanted = Files.readString(commands.output("undisturbed"));
    }

    @AfterAll
    static void stopSlurm() throws Exception {
        if (cluster != null) {
            cluster.close();
            remove(cluster.directory);
        }
        if (lab != null) {
            lab.close();
        }
    }

    @BeforeEach
    void begin() throws Exception {
        directory = Files.createTempDirectory("udckpt-q");
        Files.createFile(directory.resolve("brake"));
    }

    @AfterEach
    void end() throws Exception {
        cluster.slurm("scancel", job);
        cluster.await("the job's end", () -> cluster.slurm("squeue", "-h", "-j", job).isEmpty());
        cluster.awaitNodes();
        if (good) {
            remove(directory);
        }
    }

    private static void remove(Path directory) throws Exception {
        new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
    }

    private static List<String> program(String brake) {
        return List.of(CommandLine.artifact("programs/stencil_cg").toString(), "--grid", "16", "--solves", "300", "--brake", brake);
    }

    private void submit(List<String> options, String... script) throws Exception {
        List<String> words = new ArrayList<>(List.of("sbatch", "--parsable", "--nodes=2", "--ntasks=" + RANKS, "--time=10", "--output=out", "--error=err"));
        words.addAll(options);
        words.addAll(Arrays.asList(script));
        ProcessBuilder sbatch = new ProcessBuilder(words).directory(directory.toFile());
        sbatch.environment().put("PATH", ROOT + ":" + System.getenv("PATH"));
        sbatch.environment().put("UDCKPT_NO_BUILD", "1");
        sbatch.environment().put("UDCKPT_RUNTIME", directory.resolve("run").toString());
        sbatch.environment().put("UDCKPT_INTERVAL", "5s");
        sbatch.environment().put("UDCKPT_SOFT_NET", HostLab.NET);
        job = cluster.slurm(sbatch);
        assertTrue(job.matches("\\d+"), job);
        cluster.await("the program's output", () -> lines() > EARLY_LINES || List.of("FAILED", "COMPLETED").contains(cluster.job(job, "JobState")));
    }

    /** share/slurm/job.sh, as the documentation says it. */
    private void submitTurns() throws Exception {
        List<String> script = new ArrayList<>(List.of(ROOT.resolve("share/slurm/job.sh").toString()));
        script.addAll(program("brake"));
        submit(List.of(), script.toArray(String[]::new));
    }

    private long lines() throws IOException {
        Path out = directory.resolve("out");
        return Files.exists(out) ? Files.readString(out).lines().count() : 0;
    }

    private String said() throws IOException {
        return Files.exists(directory.resolve("err")) ? Files.readString(directory.resolve("err")) : "";
    }

    private boolean runs(String node) throws IOException {
        Host host = lab.hosts().stream().filter(each -> SlurmCluster.node(each).equals(node)).findFirst().orElseThrow();
        String pids = new String(new ProcessBuilder("ip", "netns", "pids", host.namespace()).start().getInputStream().readAllBytes());
        for (String pid : pids.lines().toList()) {
            Path name = Path.of("/proc", pid, "comm");
            if (Files.exists(name) && Files.readString(name).strip().equals("stencil_cg")) {
                return true;
            }
        }
        return false;
    }

    private void assertEnds() throws Exception {
        Files.delete(directory.resolve("brake"));
        cluster.await("its end", () -> !List.of("RUNNING", "COMPLETING", "PENDING", "REQUEUED").contains(cluster.job(job, "JobState")));
        assertEquals("COMPLETED", cluster.job(job, "JobState"), said());
        assertEquals("0:0", cluster.job(job, "ExitCode"), said());
        List<String> printed = Files.readAllLines(directory.resolve("out")); // what came after a checkpoint came twice, in the same words
        assertEquals(wanted.lines().toList(), printed.stream().distinct().toList(), said());
        good = true;
    }

    private void assertGoesOn() throws Exception {
        cluster.await("another turn", () -> !cluster.job(job, "Restarts").equals("0") && cluster.job(job, "JobState").equals("RUNNING"));
        cluster.await("its ranks", () -> said().contains("srun starts the job's agents: "));
        assertEnds();
        assertTrue(said().contains("goes on from " + directory.resolve("slurm-" + job + ".ckpt")), said());
    }

    private void awaitCheckpoint() throws Exception {
        cluster.await("a checkpoint", () -> Files.exists(directory.resolve("slurm-" + job + ".ckpt/ckpt-0001/manifest")));
    }

    /** One that nobody prepared for checkpoints: a batch script with 'udckpt run' in front of the program. */
    @Test
    void aJobTakesTheNodesOfItsAllocation() throws Exception {
        submit(List.of("--nodelist=n1,n3"), "--wrap", "udckpt run -n " + RANKS + " -- " + String.join(" ", program("brake")));
        assertTrue(said().contains("where srun starts its agents: n1:1,n3:1"), said());
        assertTrue(runs("n1") && runs("n3"), said());
        assertEnds();
    }

    @Test
    void itEndsWithACheckpointAndGoesOnOnTwoNodes() throws Exception {
        submitTurns();
        cluster.slurm("scancel", "--signal=USR1", "--batch", job);
        assertGoesOn();
        assertTrue(said().contains("was warned by USR1"), said());
    }

    /** The node with slurmd, agent and ranks is gone, not the one with the batch script: Slurm queues the job again, for the two that are left. */
    @Test
    void itGoesOnWithoutANodeThatIsLost() throws Exception {
        submitTurns();
        awaitCheckpoint();
        String batch = cluster.job(job, "BatchHost");
        String lost = List.of("n1", "n2", "n3").stream().filter(node -> !node.equals(batch) && isOfJob(node)).findFirst().orElseThrow();
        lab.hosts().stream().filter(host -> SlurmCluster.node(host).equals(lost)).findFirst().orElseThrow().crash();
        cluster.slurm("scontrol", "update", "nodename=" + lost, "state=down", "reason=test");
        try {
            cluster.await("another turn", () -> !cluster.job(job, "Restarts").equals("0") && cluster.job(job, "JobState").equals("RUNNING"));
            cluster.await("its ranks", () -> said().contains("srun starts the job's agents: "));
        } finally {
            cluster.startAgain(lost);
        }
        assertTrue(!said().substring(said().indexOf("srun starts the job's agents: ")).lines().findFirst().orElseThrow().contains(" on " + lost), said());
        assertGoesOn();
    }

    private boolean isOfJob(String node) {
        try {
            return runs(node);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** All units come to one node: it has but one. */
    @Test
    void anotherTurnCanHaveFewerNodes() throws Exception {
        submitTurns();
        awaitCheckpoint();
        cluster.slurm("scontrol", "requeuehold", job);
        cluster.await("the end of the turn", () -> cluster.job(job, "JobState").equals("PENDING"));
        cluster.slurm("scontrol", "update", "jobid=" + job, "numnodes=1");
        cluster.slurm("scontrol", "release", job);
        assertGoesOn();
    }
}
