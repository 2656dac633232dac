package org.udckpt.job.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

/**
 * share/slurm/job.sh in a real Slurm: {@code ./udckpt test slurm}, which installs it. A job that is interrupted in each of the ways that Slurm has
 * prints what one that nobody disturbs prints.
 */
@Timeout(600)
@EnabledIfSystemProperty(named = "udckpt.slurm", matches = "true", disabledReason = "./udckpt test slurm runs it")
class SlurmTest {
    private static final Path ROOT = Path.of(System.getProperty("udckpt.root"));
    private static final String RANKS = "2";
    private static final int EARLY_LINES = 20; // of the program's output, after which it is interrupted

    private static SlurmCluster cluster;
    private static String wanted;

    private Path directory;
    private String job;
    private boolean good;

    @BeforeAll
    static void startSlurm() throws Exception {
        Path directory = Files.createTempDirectory("udckpt-slurm");
        cluster = SlurmCluster.start(directory);
        CommandLine commands = new CommandLine(directory);
        List<String> words = new ArrayList<>(List.of("run", "-n", RANKS, "--"));
        words.addAll(program("no-brake"));
        assertEquals(0, commands.run("undisturbed", 120, words.toArray(String[]::new)), commands.printed("undisturbed"));
        wanted = Files.readString(commands.output("undisturbed"));
    }

    @AfterAll
    static void stopSlurm() throws Exception {
        cluster.close();
        remove(cluster.directory);
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
        cluster.await("both nodes", () -> cluster.slurm("sinfo", "-h", "-p", "low", "-o", "%D %t").equals("2 idle"));
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

    /** As the documentation says it, with options of the test's on sbatch's command line. */
    private void submit(String... options) throws Exception {
        List<String> words = new ArrayList<>(List.of("sbatch", "--parsable", "--ntasks=" + RANKS, "--output=out", "--error=err"));
        words.addAll(Arrays.asList(options));
        words.add(ROOT.resolve("share/slurm/job.sh").toString());
        words.addAll(program("brake"));
        ProcessBuilder sbatch = new ProcessBuilder(words).directory(directory.toFile());
        sbatch.environment().put("PATH", ROOT + ":" + System.getenv("PATH"));
        sbatch.environment().put("UDCKPT_NO_BUILD", "1");
        sbatch.environment().put("UDCKPT_RUNTIME", directory.resolve("run").toString());
        sbatch.environment().put("UDCKPT_INTERVAL", "5s");
        job = cluster.slurm(sbatch);
        assertTrue(job.matches("\\d+"), job);
        cluster.await("the program's output", () -> lines() > EARLY_LINES);
    }

    private long lines() throws IOException {
        Path out = directory.resolve("out");
        return Files.exists(out) ? Files.readString(out).lines().count() : 0;
    }

    private String said() throws IOException {
        return Files.readString(directory.resolve("err"));
    }

    /** Waits for another turn, lets the program end in it, and looks at what it has printed in all. */
    private void assertGoesOn() throws Exception {
        cluster.await("another turn", () -> !cluster.job(job, "Restarts").equals("0") && cluster.job(job, "JobState").equals("RUNNING"));
        Files.delete(directory.resolve("brake"));
        cluster.await("its end", () -> !List.of("RUNNING", "COMPLETING", "PENDING", "REQUEUED").contains(cluster.job(job, "JobState")));
        assertEquals("COMPLETED", cluster.job(job, "JobState"), said());
        assertEquals("0:0", cluster.job(job, "ExitCode"), said());
        List<String> printed = Files.readAllLines(directory.resolve("out")); // what came after a checkpoint came twice, in the same words
        assertEquals(wanted.lines().toList(), printed.stream().distinct().toList(), said());
        assertTrue(said().contains("goes on from " + directory.resolve("slurm-" + job + ".ckpt")), said());
        good = true;
    }

    /** Slurm's shortest limit is a minute; USR1 may come up to a minute early. */
    @Test
    void timeLimit() throws Exception {
        submit("--time=1", "--signal=B:USR1@30");
        assertGoesOn();
        assertTrue(said().contains("was warned by USR1"), said());
    }

    @Test
    void preemption() throws Exception {
        submit("--time=10", "--nodelist=n1");
        String preferred = cluster.slurm("sbatch", "--parsable", "--partition=high", "--nodelist=n1", "--ntasks=2", "--time=1", "--output=/dev/null", "--wrap", "sleep 1");
        assertGoesOn();
        assertTrue(said().contains("was warned by USR1"), said());
        assertEquals("COMPLETED", cluster.job(preferred, "JobState"));
    }

    /** Jobs that their users may not queue again, but a site's RequeueExit does. */
    @Test
    void exitCode() throws Exception {
        submit("--time=10", "--no-requeue");
        cluster.slurm("scancel", "--signal=USR1", "--batch", job);
        assertGoesOn();
        assertTrue(said().contains("did not queue job " + job + " again"), said());
    }

    /** No warning: it goes on from the newest of the checkpoints that it has taken by itself, on the other node. */
    @Test
    void lostNode() throws Exception {
        submit("--time=10");
        cluster.await("a checkpoint", () -> Files.exists(directory.resolve("slurm-" + job + ".ckpt/ckpt-0001/manifest")));
        String node = cluster.job(job, "NodeList");
        cluster.slurm("scontrol", "update", "nodename=" + node, "state=down", "reason=test");
        try {
            cluster.await("another node", () -> !cluster.job(job, "NodeList").equals(node) && cluster.job(job, "JobState").equals("RUNNING"));
        } finally {
            cluster.slurm("scontrol", "update", "nodename=" + node, "state=resume");
        }
        assertGoesOn();
    }

    /** The same, when the agent and all ranks are killed at once. */
    @Test
    void requeuedByItsUser() throws Exception {
        submit("--time=10");
        cluster.await("a checkpoint", () -> Files.exists(directory.resolve("slurm-" + job + ".ckpt/ckpt-0001/manifest")));
        cluster.slurm("scontrol", "requeue", job);
        assertGoesOn();
    }
}
