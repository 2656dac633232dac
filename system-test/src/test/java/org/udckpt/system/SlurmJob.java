package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A batch job of {@code stencil_cg}, which waits at a brake until the test lets it end: what it prints is compared with
 * what an undisturbed one prints.
 */
final class SlurmJob implements AutoCloseable {
    private static final Path ROOT = Path.of(System.getProperty("udckpt.root"));
    private static final int EARLY_LINES = 20; // of the program's output, after which it is interrupted
    private static final Map<Integer, List<String>> UNDISTURBED = new TreeMap<>();

    final Path directory = Files.createTempDirectory("udckpt-q");
    private final SlurmCluster cluster;
    private final int ranks;
    private String id;
    private boolean good;

    SlurmJob(SlurmCluster cluster, int ranks) throws IOException {
        this.cluster = cluster;
        this.ranks = ranks;
        Files.createFile(directory.resolve("brake"));
    }

    private static List<String> program(String brake) {
        return List.of(CommandLine.artifact("programs/stencil_cg").toString(), "--grid", "16", "--solves", "300",
                "--brake", brake);
    }

    private static synchronized List<String> undisturbed(int ranks) throws Exception {
        if (!UNDISTURBED.containsKey(ranks)) {
            Path directory = Files.createTempDirectory("udckpt-u");
            CommandLine commands = new CommandLine(directory);
            List<String> words = new ArrayList<>(List.of("run", "-n", Integer.toString(ranks), "--"));
            words.addAll(program("no-brake"));
            assertEquals(0, commands.run("undisturbed", 120, words.toArray(String[]::new)),
                    commands.printed("undisturbed"));
            UNDISTURBED.put(ranks, Files.readAllLines(commands.output("undisturbed")));
            remove(directory);
        }
        return UNDISTURBED.get(ranks);
    }

    static void remove(Path directory) throws Exception {
        new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
    }

    /** share/slurm/job.sh, as the documentation says it. @param options of sbatch's */
    void submitTurns(String... options) throws Exception {
        List<String> script = new ArrayList<>(List.of(ROOT.resolve("share/slurm/job.sh").toString()));
        script.addAll(program("brake"));
        submit(options, script);
    }

    /** A job that is not prepared for checkpoints: a batch script with 'udckpt run' in front of the program. */
    void submitRun(String... options) throws Exception {
        submitRun(ranks, options);
    }

    /** The same with another number of ranks than it has tasks. */
    void submitRun(int wanted, String... options) throws Exception {
        submit(options, List.of("--wrap", "udckpt run -n " + wanted + " -- " + String.join(" ", program("brake"))));
    }

    /** {@code salloc ... udckpt run -n RANKS OPTIONS}, to its end; what it printed. */
    String salloc(List<String> allocation, String... options) throws Exception {
        List<String> words = new ArrayList<>(List.of("salloc"));
        words.addAll(allocation);
        words.addAll(List.of("udckpt", "run", "-n", Integer.toString(ranks)));
        words.addAll(List.of(options));
        words.add("--");
        words.addAll(program("no-brake"));
        String said = cluster.slurm(prepared(words));
        good = true;
        return said;
    }

    /** The last line of an undisturbed one. */
    String answer() throws Exception {
        return undisturbed(ranks).getLast();
    }

    private void submit(String[] options, List<String> script) throws Exception {
        List<String> words =
                new ArrayList<>(List.of("sbatch", "--parsable", "--ntasks=" + ranks, "--output=out", "--error=err"));
        words.addAll(List.of(options));
        words.addAll(script);
        String said = cluster.slurm(prepared(words));
        assertTrue(said.matches("\\d+"), said);
        id = said;
        cluster.await("the program's output",
                () -> lines() > EARLY_LINES || List.of("FAILED", "COMPLETED").contains(field("JobState")));
    }

    private ProcessBuilder prepared(List<String> words) {
        ProcessBuilder command = new ProcessBuilder(words).directory(directory.toFile());
        command.environment().put("PATH", ROOT + ":" + System.getenv("PATH"));
        command.environment().put("UDCKPT_NO_BUILD", "1");
        command.environment().put("UDCKPT_RUNTIME", directory.resolve("run").toString());
        command.environment().put("UDCKPT_INTERVAL", "5s");
        command.environment().putAll(cluster.environment());
        return command;
    }

    String field(String name) throws IOException {
        return cluster.job(id, name);
    }

    void slurm(String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of(words));
        command.add(id);
        cluster.slurm(command.toArray(String[]::new));
    }

    void update(String change) throws IOException {
        cluster.slurm("scontrol", "update", "jobid=" + id, change);
    }

    /** USR1, as before its limit. */
    void warn() throws IOException {
        slurm("scancel", "--signal=USR1", "--batch");
    }

    private long lines() throws IOException {
        Path out = directory.resolve("out");
        return Files.exists(out) ? Files.readString(out).lines().count() : 0;
    }

    /** Its standard error. */
    String said() throws IOException {
        return Files.exists(directory.resolve("err")) ? Files.readString(directory.resolve("err")) : "";
    }

    void assertSaid(String words) throws IOException {
        assertTrue(said().contains(words), () -> {
            try {
                return "'" + words + "' is not in: " + said();
            } catch (IOException e) {
                return e.toString();
            }
        });
    }

    Path images() {
        return directory.resolve("slurm-" + id + ".ckpt");
    }

    void awaitCheckpoint() throws Exception {
        cluster.await("a checkpoint", () -> Files.exists(images().resolve("ckpt-0001/manifest")));
    }

    void awaitTurn() throws Exception {
        cluster.await("another turn", () -> !field("Restarts").equals("0") && field("JobState").equals("RUNNING"));
    }

    /** Of another turn: where its ranks go. */
    String placed() throws Exception {
        cluster.await("its ranks", () -> said().contains("srun starts the job's agents: "));
        return said().substring(said().lastIndexOf("srun starts the job's agents: ")).lines().findFirst().orElseThrow()
                .replaceFirst(".*agents: ", "");
    }

    /** Lets the program end, and looks at what it has printed in all. */
    void assertEnds() throws Exception {
        Files.delete(directory.resolve("brake"));
        cluster.await("its end",
                () -> !List.of("RUNNING", "COMPLETING", "PENDING", "REQUEUED").contains(field("JobState")));
        assertEquals("COMPLETED", field("JobState"), said());
        assertEquals("0:0", field("ExitCode"), said());
        // what came after a checkpoint came twice, in the same words
        List<String> printed = Files.readAllLines(directory.resolve("out"));
        assertEquals(undisturbed(ranks), printed.stream().distinct().toList(), said());
        good = true;
    }

    /** In another turn, from a checkpoint. */
    void assertGoesOn() throws Exception {
        awaitTurn();
        assertEnds();
        assertSaid("continues from " + images());
    }

    void assertRefused(int code, String words) throws Exception {
        cluster.await("its end", () -> field("JobState").equals("FAILED"));
        assertEquals(code + ":0", field("ExitCode"), said());
        assertSaid(words);
        good = true;
    }

    @Override
    public void close() throws Exception {
        if (id != null) { // else sbatch has refused it, or salloc has ended
            slurm("scancel");
            cluster.await("the job's end", () -> cluster.slurm("squeue", "-h", "-j", id).isEmpty());
            cluster.awaitNodes();
        }
        if (good) {
            remove(directory);
        }
    }
}
