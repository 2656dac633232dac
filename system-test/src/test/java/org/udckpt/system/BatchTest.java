package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.agent.command.CommandClient;
import org.udckpt.support.runtime.JobRecord;
import org.udckpt.support.runtime.RuntimeDirectory;

/**
 * {@code udckpt batch} with a scontrol and a squeue that only write down what they are asked; SlurmTest has the real
 * ones.
 */
@Timeout(300)
class BatchTest {
    private static final int AWAIT_SECONDS = 60;
    private static final int WANTS_ANOTHER_TURN = 75;
    private static final int NO_OTHER_TURN = 76;
    private static final String NAME = "slurm-7";
    /** That it begins once only shows that a later turn went on from a checkpoint. */
    private static final String COUNTS = "echo begun; touch ready; until [ -e finish ]; do sleep 0.05; done; echo over";
    /** Cannot be checkpointed while it is connected to somebody outside. */
    private static final String CONNECTS =
            "echo begun; touch ready; until [ -e connect ]; do sleep 0.05; done; exec 3<>/dev/tcp/127.0.0.1/%d; touch "
                    + "connected; until [ -e finish ]; do sleep 0.05; done; echo over";

    private Path directory;
    private CommandLine commands;
    private final List<Process> started = new ArrayList<>();
    private boolean good;

    @BeforeEach
    void begin() throws Exception {
        directory = Files.createTempDirectory("udckpt-b");
        commands = new CommandLine(directory);
        Files.createDirectory(directory.resolve("bin"));
        scheduler("squeue", "cat end 2>/dev/null || echo N/A");
        scheduler("scontrol", "true");
    }

    @AfterEach
    void end() throws Exception {
        for (Process process : started) {
            Path runtime = commands.runtime().resolve(NAME);
            long shepherd = Files.exists(runtime.resolve("job.json")) ? JobRecord.read(runtime).shepherdPid() : 0;
            process.destroyForcibly().waitFor();
            RankProcesses.kill(runtime);
            if (shepherd != 0) {
                ProcessHandle.of(shepherd).ifPresent(ProcessHandle::destroyForcibly);
            }
        }
        if (good) {
            new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
        }
    }

    private void scheduler(String command, String action) throws IOException {
        Path file = directory.resolve("bin").resolve(command);
        Files.writeString(file,
                "#!/bin/sh\ncd " + directory + "\necho " + command + " \"$@\" >>asked\n" + action + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }

    /** Slurm ends the job so many seconds from now. */
    private void endsIn(int seconds) throws IOException {
        Files.writeString(directory.resolve("end"),
                LocalDateTime.now(ZoneOffset.UTC).plusSeconds(seconds).truncatedTo(ChronoUnit.SECONDS) + "\n");
    }

    private Process batch(String script, String... options) throws IOException {
        return batch(Map.of("SLURM_JOB_ID", "7", "SLURM_JOB_NUM_NODES", "1"), script, options);
    }

    private Process batch(Map<String, String> slurm, String script, String... options) throws IOException {
        List<String> words = new ArrayList<>(List.of("batch"));
        words.addAll(Arrays.asList(options));
        words.addAll(List.of("--", "/bin/bash", "-c", script));
        Map<String, String> environment = new HashMap<>(slurm);
        environment.put("PATH", directory.resolve("bin") + ":" + System.getenv("PATH"));
        Process process = commands.start("job", environment, words.toArray(String[]::new));
        started.add(process);
        return process;
    }

    private void await(String what, RunningJob.Condition condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(AWAIT_SECONDS);
        while (!condition.holds()) {
            assertTrue(System.nanoTime() < end,
                    what + " did not come in " + AWAIT_SECONDS + " s\n" + commands.printed("job"));
            Thread.sleep(10);
        }
    }

    /** Its commands are answered: it can be warned, and all that it needs for a checkpoint is there. */
    private void awaitRunning() throws Exception {
        await("the job's start", () -> Files.exists(directory.resolve("ready"))
                && Files.exists(commands.runtime().resolve(NAME).resolve("command.sock")));
    }

    private static void warn(Process process) throws Exception {
        assertEquals(0, new ProcessBuilder("kill", "-USR1", Long.toString(process.pid())).start().waitFor());
    }

    private void assertEnds(Process process, int code) throws Exception {
        assertTrue(process.waitFor(AWAIT_SECONDS, TimeUnit.SECONDS), commands.printed("job"));
        assertEquals(code, process.exitValue(), commands.printed("job"));
    }

    private List<String> requeues() throws IOException {
        Path asked = directory.resolve("asked");
        return Files.exists(asked)
                ? Files.readAllLines(asked).stream().filter(line -> line.startsWith("scontrol")).toList() : List.of();
    }

    private void finish() throws IOException {
        Files.createFile(directory.resolve("finish"));
    }

    private String output() throws IOException {
        return Files.readString(commands.output("job"));
    }

    @Test
    void aWarnedJobEndsWithACheckpointIsQueuedAgainAndGoesOn() throws Exception {
        Process first = batch(COUNTS);
        awaitRunning();
        warn(first);
        assertEnds(first, WANTS_ANOTHER_TURN);
        assertEquals(List.of("scontrol requeue 7"), requeues());
        assertTrue(Files.isDirectory(directory.resolve("slurm-7.ckpt/ckpt-0001")), commands.printed("job"));
        finish();
        assertEnds(batch(COUNTS), 0);
        assertEquals("begun\nover\n", output());
        assertEquals(1, requeues().size());
        good = true;
    }

    @Test
    void whereSlurmDoesNotQueueItAgainTheExitCodeAsksForIt() throws Exception {
        scheduler("scontrol", "echo 'Requested operation is presently disabled for job 7' >&2");
        Process job = batch(COUNTS);
        awaitRunning();
        warn(job);
        assertEnds(job, WANTS_ANOTHER_TURN);
        assertTrue(
                commands.printed("job")
                        .contains("did not queue job 7 again: Requested operation is presently disabled for job 7"),
                commands.printed("job"));
        good = true;
    }

    @Tag("slow")
    @Test
    void withoutASchedulerTheDirectoryIsWhatTurnsHaveInCommon() throws Exception {
        assertEnds(batch(Map.of(), COUNTS), 64);
        Process first = batch(Map.of(), COUNTS, "--name", NAME, "--dir", "images");
        awaitRunning();
        warn(first);
        assertEnds(first, WANTS_ANOTHER_TURN);
        assertEquals(List.of(), requeues());
        finish();
        assertEnds(batch(Map.of(), COUNTS, "--name", NAME, "--dir", "images"), 0);
        assertEquals("begun\nover\n", output());
        good = true;
    }

    @Tag("slow")
    @Test
    void anotherCommandDoesNotGoOnFromThisOnesCheckpoint() throws Exception {
        Process first = batch(COUNTS);
        awaitRunning();
        warn(first);
        assertEnds(first, WANTS_ANOTHER_TURN);
        assertEnds(batch("echo something else"), 64);
        assertTrue(commands.printed("job").contains("belongs to another job (/bin/bash -c "
                + COUNTS), commands.printed("job"));
        assertEquals("begun\n", output());
        good = true;
    }

    @Test
    void whereTheNewestCheckpointIsDamagedTheOneBeforeItIsTaken() throws Exception {
        Process first = batch(COUNTS);
        awaitRunning();
        checkpoint();
        warn(first);
        assertEnds(first, WANTS_ANOTHER_TURN);
        RestartOnFailureTest.damage(directory.resolve("slurm-7.ckpt/ckpt-0002"));
        finish();
        assertEnds(batch(COUNTS), 0);
        assertTrue(commands.printed("job").contains("continues from " + directory.resolve("slurm-7.ckpt/ckpt-0001")),
                commands.printed("job"));
        assertEquals("begun\nover\n", output());
        good = true;
    }

    @Test
    void moreThanOneNodeIsRefused() throws Exception {
        assertEnds(batch(Map.of("SLURM_JOB_ID", "7", "SLURM_JOB_NUM_NODES", "2"), COUNTS), 69);
        good = true;
    }

    @Test
    void launchersInsideStartTheirRanksInside() throws Exception {
        assertEnds(batch("echo $HYDRA_LAUNCHER"), 0);
        assertEquals("fork\n", output());
        good = true;
    }

    /** The last checkpoint fails until there is no time left; what the job does then is what it did all the time. */
    @Test
    void aJobThatCameNoFurtherIsNotQueuedAgain() throws Exception {
        try (ServerSocket outside = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Process job = batch(CONNECTS.formatted(outside.getLocalPort()));
            awaitRunning();
            connect();
            endsIn(12); // ten of them are kept for queueing
            warn(job);
            await("the end of its time", () -> commands.printed("job").contains("the job is not queued again"));
            assertTrue(job.isAlive(), commands.printed("job"));
            finish();
            assertEnds(job, 0);
            assertEquals(List.of(), requeues());
            assertEquals("begun\nover\n", output());
        }
        good = true;
    }

    @Test
    void withAnOlderCheckpointOfThisTurnItIs() throws Exception {
        try (ServerSocket outside = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Process job = batch(CONNECTS.formatted(outside.getLocalPort()));
            awaitRunning();
            checkpoint();
            connect();
            endsIn(12);
            warn(job);
            await("a request to Slurm", () -> !requeues().isEmpty());
            job.destroy(); // SIGTERM, as Slurm sends it then
            assertEnds(job, WANTS_ANOTHER_TURN);
            assertEquals(List.of("scontrol requeue 7"), requeues());
        }
        good = true;
    }

    /** Whether it is of this turn cannot be told when it proves to be damaged: queued again in vain it says so then. */
    @Tag("slow")
    @Test
    void whereOlderCheckpointsCannotBeReadItIsToo() throws Exception {
        try (ServerSocket outside = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Process job = batch(CONNECTS.formatted(outside.getLocalPort()));
            awaitRunning();
            checkpoint();
            Files.writeString(directory.resolve("slurm-7.ckpt/ckpt-0001/manifest"), "{");
            connect();
            endsIn(12);
            warn(job);
            await("a request to Slurm", () -> !requeues().isEmpty());
            assertTrue(commands.printed("job").contains("it is unknown whether this turn has taken an older one"),
                    commands.printed("job"));
            job.destroy();
            assertEnds(job, WANTS_ANOTHER_TURN);
        }
        good = true;
    }

    /** SLURM_JOB_ID of one of an array's tasks is the number of all of them. */
    @Test
    void ofAnArrayOnlyTheTaskIsQueuedAgain() throws Exception {
        Process job = batch(Map.of("SLURM_JOB_ID", "7", "SLURM_ARRAY_JOB_ID", "7", "SLURM_ARRAY_TASK_ID", "3"), COUNTS);
        awaitRunning();
        warn(job);
        assertEnds(job, WANTS_ANOTHER_TURN);
        assertEquals(List.of("scontrol requeue 7_3"), requeues());
        assertTrue(Files.readAllLines(directory.resolve("asked")).contains("squeue -h -j 7_3 -o %e"));
        good = true;
    }

    /**
     * Ranks may need long to die, in a file system that does not answer for one: the checkpoint is durable all the
     * same.
     */
    @Tag("slow")
    @Test
    void ranksThatDieLateLoseNoTurn() throws Exception {
        Process job = batch(COUNTS);
        awaitRunning();
        String shepherd = Long.toString(JobRecord.read(commands.runtime().resolve(NAME)).shepherdPid());
        assertEquals(0, new ProcessBuilder("kill", "-STOP", shepherd).start().waitFor()); // it kills them
        try {
            warn(job);
            await("word of the ranks", () -> commands.printed("job").contains("ranks still run"));
        } finally {
            assertEquals(0, new ProcessBuilder("kill", "-CONT", shepherd).start().waitFor());
        }
        assertEnds(job, WANTS_ANOTHER_TURN);
        assertEquals(List.of("scontrol requeue 7"), requeues());
        assertFalse(Files.exists(directory.resolve("slurm-7.ckpt/ckpt-0002")), commands.printed("job"));
        good = true;
    }

    @Test
    void theProgramsOwnCodeIsNoWishForAnotherTurn() throws Exception {
        assertEnds(batch("exit " + WANTS_ANOTHER_TURN), NO_OTHER_TURN);
        good = true;
    }

    @Tag("slow")
    @Test
    void aTurnThatCannotBeginIsNoneEither() throws Exception {
        Process first = batch(COUNTS);
        awaitRunning();
        assertEnds(batch(COUNTS), NO_OTHER_TURN);
        finish();
        assertEnds(first, 0);
        good = true;
    }

    private void connect() throws Exception {
        Files.createFile(directory.resolve("connect"));
        await("the connection", () -> Files.exists(directory.resolve("connected")));
    }

    private void checkpoint() {
        try (CommandClient client = CommandClient.connect(new RuntimeDirectory(commands.runtime().resolve(NAME)))) {
            client.ask(client.request("checkpoint"), _ -> {});
        }
    }

    /** Asked twice, and once while the first one is being taken: one checkpoint more. */
    @Test
    void warningsThatComeAgainSayNothingNew() throws Exception {
        Process job = batch(COUNTS);
        awaitRunning();
        warn(job);
        warn(job);
        assertEnds(job, WANTS_ANOTHER_TURN);
        assertTrue(Files.isDirectory(directory.resolve("slurm-7.ckpt/ckpt-0001")), commands.printed("job"));
        assertFalse(Files.exists(directory.resolve("slurm-7.ckpt/ckpt-0002")), commands.printed("job"));
        assertEquals(1, requeues().size());
        good = true;
    }
}
