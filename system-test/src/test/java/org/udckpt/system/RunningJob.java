package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.udckpt.agent.command.CommandClient;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.store.Keys;
import org.udckpt.support.report.Failure;
import org.udckpt.support.runtime.JobRecord;
import org.udckpt.support.runtime.RuntimeDirectory;

/**
 * A job called "job" under the real {@code udckpt run}, with a self-checking program of two ranks, in a directory of
 * its own that is kept when the test fails. Commands are asked from inside the test: no JVM has to start for each.
 */
final class RunningJob implements AutoCloseable {
    static final int RANKS = 2;
    private static final double LONGEST_STOP_MS = 2000; // on two processors that everything else wants, too
    private static final int AWAIT_SECONDS = 60;

    final Path directory;
    final CommandLine commands;
    final Process agent;
    private final Path images;
    private boolean good;

    private RunningJob(Path directory, Path images, List<String> options, List<String> command) throws IOException {
        this.directory = directory;
        this.images = images;
        this.commands = new CommandLine(directory);
        List<String> words = new ArrayList<>(List.of("run", "--name", "job"));
        words.addAll(options.contains("--tiers") ? List.of() : List.of("--dir", images.toString()));
        words.addAll(options);
        words.add("--");
        words.addAll(command);
        this.agent = commands.start("job", words.toArray(String[]::new));
    }

    /** Two MPI ranks of so many MiB that compute until {@link #finish}; returns when they do. */
    static RunningJob ballast(int mebibytes, String... options) throws Exception {
        Path directory = Files.createTempDirectory("udckpt-j");
        return ballast(directory, directory.resolve("images"), mebibytes, options);
    }

    static RunningJob ballast(Path directory, Path images, int mebibytes, String... options) throws Exception {
        List<String> all = new ArrayList<>(List.of("-n", Integer.toString(RANKS)));
        all.addAll(Arrays.asList(options));
        RunningJob job =
                new RunningJob(directory, images, all, List.of(CommandLine.artifact("programs/ballast").toString(),
                        Integer.toString(mebibytes), directory.resolve("finish").toString()));
        job.awaitStart(() -> job.output().contains("iteration"));
        return job;
    }

    /**
     * A shell script as the job's only rank, in the job's directory; returns when it has made the file {@code ready}.
     */
    static RunningJob script(String text, String... options) throws Exception {
        Path directory = Files.createTempDirectory("udckpt-j");
        return script(directory, text, options);
    }

    static RunningJob script(Path directory, String text, String... options) throws Exception {
        RunningJob job = new RunningJob(directory, directory.resolve("images"), List.of(options),
                List.of("/bin/sh", "-c", text));
        job.awaitStart(() -> Files.exists(directory.resolve("ready")));
        return job;
    }

    private void awaitStart(Condition condition) throws Exception {
        try {
            await("the job's start", condition);
            await("the agent's command socket", () -> Files.exists(runtime().resolve("command.sock")));
        } catch (Exception | AssertionError e) {
            close();
            throw e;
        }
    }

    Path runtime() {
        return commands.runtime().resolve("job");
    }

    String output() throws IOException {
        return Files.readString(commands.output("job"));
    }

    /** What the agent, the shepherd and the ranks said on standard error. */
    String errors() throws IOException {
        return Files.readString(directory.resolve("job.err"));
    }

    /** Both streams, for messages. */
    String text() {
        try {
            return commands.printed("job");
        } catch (IOException e) {
            return e.toString();
        }
    }

    CommandClient connect() {
        return CommandClient.connect(new RuntimeDirectory(runtime()));
    }

    /** As {@code udckpt checkpoint job}; its id. */
    String checkpoint() {
        return checkpoint(true, false, _ -> {});
    }

    String checkpoint(boolean wait, boolean kill, Consumer<String> events) {
        try (CommandClient client = connect()) {
            JsonNode answer = client.ask(client.request("checkpoint").put("wait", wait).put("kill", kill),
                    event -> events.accept(event.path("message").asText()));
            return answer.path("id").asText();
        }
    }

    /** The failure of a checkpoint that has to fail. */
    Failure failingCheckpoint() {
        try {
            throw new AssertionError("the checkpoint " + checkpoint() + " was taken\n" + text());
        } catch (Failure e) {
            return e;
        }
    }

    JsonNode status() {
        try (CommandClient client = connect()) {
            return client.ask(client.request("status"), _ -> {}).path("job");
        }
    }

    long rankPid(int rank) {
        return status().path("ranks").get(rank).path("pid").asLong();
    }

    List<Catalogue.Entry> images() throws IOException {
        return Files.isDirectory(images) ? new Catalogue(images, Keys.user()).list() : List.of();
    }

    List<String> complete() throws IOException {
        return images().stream().filter(e -> e.state() == Catalogue.State.COMPLETE).map(Catalogue.Entry::name).toList();
    }

    /** Every file of every checkpoint is what its manifest says, and nothing but complete checkpoints is there. */
    void assertOnly(String... names) throws Exception {
        List<Catalogue.Entry> found = images();
        assertEquals(List.of(names), found.stream().map(Catalogue.Entry::name).toList(), () -> found + "\n" + text());
        for (Catalogue.Entry entry : found) {
            assertEquals(Catalogue.State.COMPLETE, entry.state(), entry.toString());
            try (var reader = org.udckpt.image.read.CheckpointReader.open(entry.directory(), Keys.user())) {
                reader.verify((_, _) -> {});
            }
        }
    }

    /**
     * The ranks are there, none has a stopped thread, and no snapshot is; nor has any stood still for long, whatever
     * became of its checkpoints.
     */
    void assertUnhurt(int ranks) throws Exception {
        // a few milliseconds, on a machine that has nothing else to do
        double longest = status().at("/checkpoints/stop_ms/max").asDouble();
        assertTrue(longest < LONGEST_STOP_MS, () -> "a rank stood still for " + longest + " ms\n" + text());
        await("the end of the snapshots", () -> RankProcesses.of(runtime()).size() == ranks);
        for (long pid : RankProcesses.of(runtime())) {
            String states = RankProcesses.states(pid);
            assertFalse(states.matches(".*[TtXZ].*"),
                    () -> "process " + pid + " has threads in states " + states + "\n" + text());
        }
    }

    /** Lets the ballast program end, and asks whether it was right all the time. */
    void finish() throws Exception {
        Files.createFile(directory.resolve("finish"));
        assertEnds(0);
        assertTrue(output().contains("PASS") && !output().contains("FAIL"), this::text);
    }

    /** The command ends with this code, and nothing is left of the job. */
    void assertEnds(int code) throws Exception {
        assertTrue(agent.waitFor(AWAIT_SECONDS, TimeUnit.SECONDS), () -> "the job did not end\n" + text());
        assertEquals(code, agent.exitValue(), this::text);
        assertEquals(List.of(), RankProcesses.of(runtime()), () -> "processes are left\n" + text());
        assertFalse(Files.exists(runtime()), "the runtime directory is left");
        good = true;
    }

    interface Condition {
        boolean holds() throws Exception;
    }

    void await(String what, Condition condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(AWAIT_SECONDS);
        while (!condition.holds()) {
            assertTrue(System.nanoTime() < end, () -> what + " did not come in " + AWAIT_SECONDS + " s\n" + text());
            Thread.sleep(10);
        }
    }

    @Override
    public void close() throws Exception {
        Optional<ProcessHandle> shepherd = agent.isAlive() && Files.exists(runtime().resolve("job.json"))
                ? ProcessHandle.of(JobRecord.read(runtime()).shepherdPid()).filter(process -> process.pid() != 0)
                : Optional.empty();
        agent.destroyForcibly().waitFor();
        RankProcesses.kill(runtime());
        shepherd.ifPresent(ProcessHandle::destroyForcibly);
        if (good) {
            new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
        }
    }
}
