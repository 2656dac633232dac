package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.udckpt.picture.KernelsWord;
import org.udckpt.picture.Picture;

/**
 * A command under {@code udckpt run} without ranks, through its incarnations, in a directory of its own that is kept
 * when the test fails. "@" in the command is that directory; the file {@code finish} in it ends the program.
 */
final class ProcessTreeJob implements AutoCloseable {
    private static final int AWAIT_SECONDS = 90;

    private final Path directory;
    private final CommandLine commands;
    private final List<String> command = new ArrayList<>();
    private Process run;
    private int incarnations;
    private boolean good;

    ProcessTreeJob(List<String> command) throws IOException {
        this(command, List.of());
    }

    ProcessTreeJob(List<String> command, List<String> more, String... rest) throws IOException {
        this.directory = Files.createTempDirectory("udckpt-t");
        this.commands = new CommandLine(directory);
        this.command.addAll(command);
        this.command.addAll(more);
        this.command.addAll(List.of(rest));
        this.command.replaceAll(word -> word.replace("@", directory.toString()));
    }

    /**
     * A program that prints "started", and at its end a line with its result, is stopped half a second after the first
     * (SIGSTOP), checkpointed, killed, and restored: what the kernel says of its processes is the same, line by line,
     * before they go on, and its result is that of a run that nobody disturbed.
     */
    static void comesBack(String name, List<String> command) throws Exception {
        try (ProcessTreeJob tree = new ProcessTreeJob(command)) {
            String wanted = tree.undisturbed();
            tree.start();
            tree.await("started");
            Thread.sleep(500);
            StoppedTree before = new StoppedTree(tree.commands.runtime().resolve("tree"));
            before.stop();
            Picture picture = before.picture(tree::isStream);
            tree.checkpointAndKill();
            tree.restart();
            StoppedTree after = new StoppedTree(tree.commands.runtime().resolve("tree"));
            after.await(before.size(), tree::text);
            List<String> differences =
                    Picture.differences(picture, after.picture(tree::isStream), KernelsWord.afterRestart());
            after.goOn();
            tree.finish();
            assertEquals(List.of(), differences, () -> name + ": a restart has changed what the kernel says:\n  "
                    + String.join("\n  ", differences));
            assertEquals(last(wanted), last(tree.output()), () -> name + "\n" + tree.text());
            assertTrue(last(wanted).startsWith("result "), wanted);
            tree.good();
        }
    }

    /** Of the commands that run and restart it. */
    private boolean isStream(String link) {
        return link.startsWith(directory + "/run-");
    }

    private static String last(String output) {
        return output.lines().reduce("", (before, line) -> line);
    }

    Path file(String name) {
        return directory.resolve(name);
    }

    /** What the command prints when it runs by itself, from its start to its end. */
    String undisturbed() throws Exception {
        Files.createFile(file("finish"));
        Path output = file("undisturbed.out");
        Process process =
                new ProcessBuilder(command).directory(directory.toFile()).redirectInput(Path.of("/dev/null").toFile())
                        .redirectOutput(output.toFile()).redirectError(file("undisturbed.err").toFile()).start();
        try {
            assertTrue(process.waitFor(AWAIT_SECONDS, TimeUnit.SECONDS), "the program alone does not end");
        } finally {
            process.destroyForcibly();
        }
        Files.delete(file("finish"));
        assertEquals(0, process.exitValue(), Files.readString(file("undisturbed.err")));
        return Files.readString(output);
    }

    void start(String... flags) throws IOException {
        List<String> words = new ArrayList<>(List.of("run", "--name", "tree", "--dir", file("images").toString()));
        words.addAll(List.of(flags));
        words.add("--");
        words.addAll(command);
        begin(words);
    }

    /** The exit code of a start that must not succeed; what it has said is the {@link #refusal}. */
    int refusedRun() throws Exception {
        List<String> words =
                new ArrayList<>(List.of("run", "--name", "tree", "--dir", file("images").toString(), "--"));
        words.addAll(command);
        return commands.run("refused", AWAIT_SECONDS, words.toArray(String[]::new));
    }

    void restart(String... flags) throws IOException {
        List<String> words = new ArrayList<>(List.of("restart", file("images").toString(), "--name", "tree"));
        words.addAll(List.of(flags));
        begin(words);
    }

    /** The exit code of a restart that must not succeed, and what it has said. */
    int refusedRestart() throws Exception {
        return refused("restart", file("images").toString(), "--name", "tree");
    }

    /** The exit code of a restart's plan; what it says is the {@link #refusal}. */
    int plan() throws Exception {
        return refused("restart", "--plan", file("images").toString(), "--name", "tree");
    }

    /** Ends the present incarnation by force. */
    void kill() throws Exception {
        run.destroyForcibly().waitFor();
        RankProcesses.kill(commands.runtime().resolve("tree"));
    }

    /** The same with other words. */
    int refused(List<String> words) throws Exception {
        List<String> all = new ArrayList<>(List.of("restart", file("images").toString()));
        all.addAll(words);
        return commands.run("refused", AWAIT_SECONDS, all.toArray(String[]::new));
    }

    /** The same from {@code fast=DIR,slow=DIR}. */
    int refusedRestart(String tiers) throws Exception {
        return refused("restart", tiers, "--name", "tree");
    }

    private int refused(String... words) throws Exception {
        Files.deleteIfExists(file("refused.out"));
        Files.deleteIfExists(file("refused.err"));
        return commands.run("refused", AWAIT_SECONDS, words);
    }

    String refusal() {
        return printed("refused");
    }

    private void begin(List<String> words) throws IOException {
        incarnations++;
        run = commands.start(name(), words.toArray(String[]::new));
    }

    private String name() {
        return "run-" + incarnations;
    }

    /** Of the present incarnation. */
    String output() {
        try {
            return Files.readString(commands.output(name()));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Waits until the present incarnation has printed these words and takes commands. */
    void await(String words) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(AWAIT_SECONDS);
        while (!output().contains(words) || !Files.exists(commands.runtime().resolve("tree/command.sock"))) {
            assertTrue(run.isAlive() && System.nanoTime() < end, () -> "'" + words + "' did not come\n" + text());
            Thread.sleep(20);
        }
    }

    void checkpointAndKill() throws Exception {
        assertEquals(0, commands.run("checkpoint", AWAIT_SECONDS, "checkpoint", "tree", "--then", "kill"), this::text);
        assertTrue(run.waitFor(AWAIT_SECONDS, TimeUnit.SECONDS), this::text);
        assertEquals(List.of(), RankProcesses.of(commands.runtime().resolve("tree")),
                () -> "processes are left\n" + text());
    }

    /** Its exit code; the job goes on. */
    int checkpoint() throws Exception {
        return commands.run("checkpoint", AWAIT_SECONDS, "checkpoint", "tree");
    }

    /** Waits until the present incarnation has ended by itself, with code 0. */
    void end() throws Exception {
        assertTrue(run.waitFor(AWAIT_SECONDS, TimeUnit.SECONDS), () -> "it does not end\n" + text());
        assertEquals(0, run.exitValue(), this::text);
    }

    /** With the counters, as a user has it. */
    JsonNode status() throws Exception {
        return json("status", "tree", "--json").at("/jobs/0");
    }

    /** What a command prints that ends with 0. */
    String output(String... words) throws Exception {
        Files.deleteIfExists(commands.output("looking"));
        assertEquals(0, commands.run("looking", AWAIT_SECONDS, words), () -> text() + printed("looking"));
        return Files.readString(commands.output("looking"));
    }

    JsonNode json(String... words) throws Exception {
        return new ObjectMapper().readTree(output(words));
    }

    private String printed(String name) {
        try {
            return commands.printed(name);
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Lets the program end by itself, as it must: with code 0. */
    void finish() throws Exception {
        Files.createFile(file("finish"));
        end();
        assertEquals(List.of(), RankProcesses.of(commands.runtime().resolve("tree")),
                () -> "processes are left\n" + text());
    }

    /** Nothing has to be kept. */
    void good() {
        good = true;
    }

    String text() {
        StringBuilder text = new StringBuilder();
        try {
            for (int number = 1; number <= incarnations; number++) {
                text.append(commands.printed("run-" + number));
            }
            return text.append(commands.printed("checkpoint")).toString();
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Override
    public void close() throws Exception {
        if (run != null && run.isAlive()) {
            run.destroy(); // as a user's ^C
            if (!run.waitFor(10, TimeUnit.SECONDS)) {
                run.destroyForcibly().waitFor();
            }
        }
        RankProcesses.kill(commands.runtime().resolve("tree"));
        if (good) {
            new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
        }
    }
}
