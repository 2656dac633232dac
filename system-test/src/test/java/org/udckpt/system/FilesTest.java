package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * MPI jobs that write files (output_files.c): after a restart these become what they would have been without one, byte
 * by byte.
 */
@Timeout(300)
class FilesTest {
    private static final int TIMEOUT_S = 90;

    private final Path directory;
    private final CommandLine commands;
    private final Path work;
    private final Path program = CommandLine.artifact("programs/output_files");
    private Process run;
    private String name;

    FilesTest() throws IOException {
        directory = Files.createTempDirectory("udckpt-j").toRealPath();
        commands = new CommandLine(directory);
        work = Files.createDirectory(directory.resolve("work"));
    }

    /**
     * The whole directory is saved; later the job is restarted where it was, and again in a directory to which it was
     * moved.
     */
    @Tag("slow")
    @Test
    void aWorkDirectory() throws Exception {
        try {
            start("--files", "work", "--files-except", "work/*.tmp");
            awaitStep(60);
            Files.writeString(work.resolve("scratch.tmp"), "not part of it");
            assertEquals(0, commands.run("checkpoint", TIMEOUT_S, "checkpoint", "job"), this::text);
            // not the first, where a file was met while it was written
            String kept = ".udckpt-rolled-back-" + Files.readString(commands.output("checkpoint")).strip();
            goOnAndKill();
            Files.writeString(work.resolve("notes"), "made by hand");
            Path moved = directory.resolve("moved");
            assertEquals(0, new ProcessBuilder("cp", "-a", work.toString(), moved.toString()).start().waitFor());

            begin("second", "restart", "images", "--name", "job");
            finish();
            equalToUndisturbed(work);
            assertEquals("not part of it", Files.readString(work.resolve("scratch.tmp")));
            assertEquals("made by hand", Files.readString(work.resolve("notes" + kept)));
            for (String words : List.of("rolled back " + work + "/trajectory.0.0: from ",
                    "moved " + work + "/notes, which was made after the checkpoint, to " + work + "/notes" + kept,
                    work + "/trajectory.1.0" + kept)) {
                assertTrue(text().contains(words), () -> words + "\n" + text());
            }

            Files.delete(directory.resolve("finish"));
            assertEquals(0, new ProcessBuilder("rm", "-r", work.toString()).start().waitFor());
            begin("third", "restart", "images", "--name", "job", "--map-path", work + "=" + moved, "--rolled-back",
                    "discard");
            finish();
            equalToUndisturbed(moved);
            assertFalse(Files.exists(work), "something was made at the old place");
            try (Stream<Path> left = Files.walk(moved)) {
                assertEquals(List.of(), left.filter(path -> path.getFileName().toString().contains("udckpt")).toList());
            }

            assertEquals(0, commands.run("inspect", TIMEOUT_S, "inspect", "--files", "images"));
            assertTrue(commands.printed("inspect").contains(work + "/shared"), commands.printed("inspect"));
            assertEquals(0, commands.run("verify", TIMEOUT_S, "verify", "images"));
            good();
        } finally {
            end();
        }
    }

    /**
     * Without a flag: what is open for writing. The rest is the program's, and what it made since it will append to.
     */
    @Test
    void whatIsOpen() throws Exception {
        try {
            start("--full-every", "3", "--compress", "zstd");
            awaitStep(40);
            assertEquals(0, commands.run("checkpoint", TIMEOUT_S, "checkpoint", "job"), this::text);
            assertEquals(0, commands.run("checkpoint", TIMEOUT_S, "checkpoint", "job"), this::text);
            goOnAndKill();
            Files.delete(work.resolve("log.1.0"));
            begin("second", "restart", "images", "--name", "job");
            finish();
            Path wanted = undisturbed();
            for (String file : List.of("log.0.0", "log.1.0", "trajectory.0.0", "trajectory.1.0", "scratch.0.0",
                    "table.1.0", "shared")) {
                assertTrue(
                        Arrays.equals(Files.readAllBytes(wanted.resolve(file)), Files.readAllBytes(work.resolve(file))),
                        () -> file + "\n" + text());
            }
            assertTrue(text().contains("restored " + work + "/log.1.0, which was missing"), this::text);
            good();
        } finally {
            end();
        }
    }

    /** What cannot be put back stops the restart, by name and before anything is changed. */
    @Tag("slow")
    @Test
    void whatStandsInTheWay() throws Exception {
        try {
            start("--files", work.toString());
            awaitStep(20);
            assertEquals(0, commands.run("checkpoint", TIMEOUT_S, "checkpoint", "job", "--then", "kill"), this::text);
            assertTrue(run.waitFor(TIMEOUT_S, TimeUnit.SECONDS), this::text);
            Files.write(work.resolve("scratch.0.0"), new byte[7]);
            Files.delete(work.resolve("log.0.0"));
            Files.createDirectory(work.resolve("log.0.0"));
            assertEquals(74, commands.run("refused", TIMEOUT_S, "restart", "images", "--name", "job"), () -> text());
            assertTrue(
                    commands.printed("refused").contains(
                            work + "/log.0.0 was a file at the checkpoint and is now a directory; move it away"),
                    commands.printed("refused"));
            assertEquals(7, Files.size(work.resolve("scratch.0.0")));
            Files.delete(work.resolve("log.0.0"));
            begin("second", "restart", "images", "--name", "job");
            finish();
            equalToUndisturbed(work);
            good();
        } finally {
            end();
        }
    }

    @Tag("slow")
    @Test
    void wrongFlagsAreNamed() throws Exception {
        try {
            for (List<String> flags : List.of(List.of("--files", ""), List.of("--files-in-stop", "much"),
                    List.of("--files-limit", "-1"))) {
                assertEquals(64,
                        commands.run("bad", TIMEOUT_S, "run", flags.getFirst(), flags.getLast(), "--", "/bin/true"),
                        () -> flags + text());
            }
            for (List<String> flags : List.of(List.of("--map-path", "x=/tmp"), List.of("--map-path", "/x"),
                    List.of("--rolled-back", "perhaps"))) {
                assertEquals(64,
                        commands.run("bad", TIMEOUT_S, "restart", flags.getFirst(), flags.getLast(), "images"),
                        () -> flags + text());
            }
            assertEquals(66, commands.run("bad", TIMEOUT_S, "restart", "--map-path", "/x=/nonexistent", "images"));
            good();
        } finally {
            end();
        }
    }

    private void start(String... flags) throws IOException {
        List<String> words = new ArrayList<>(List.of("run", "-n", "2", "--name", "job", "--dir", "images"));
        words.addAll(List.of(flags));
        words.addAll(List.of("--", program.toString(), work.toString(), "0", directory.resolve("finish").toString()));
        begin("first", words.toArray(String[]::new));
    }

    private void begin(String name, String... words) throws IOException {
        this.name = name;
        this.run = commands.start(name, words);
    }

    private int step() throws IOException {
        return Files.readString(commands.output(name)).lines().filter(line -> line.startsWith("step "))
                .mapToInt(line -> Integer.parseInt(line.substring(5))).max().orElse(-1);
    }

    private void awaitStep(int wanted) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
        while (step() < wanted || !Files.exists(commands.runtime().resolve("job/command.sock"))) {
            assertTrue(run.isAlive() && System.nanoTime() < end, () -> "step " + wanted + " did not come\n" + text());
            Thread.sleep(20);
        }
    }

    /** The files get a future that must go away; and the job ends as by a power failure. */
    private void goOnAndKill() throws Exception {
        awaitStep(step() + 60);
        run.destroyForcibly().waitFor();
        RankProcesses.kill(commands.runtime().resolve("job"));
    }

    private void finish() throws Exception {
        awaitStep(step() + 20);
        Files.createFile(directory.resolve("finish"));
        assertTrue(run.waitFor(TIMEOUT_S, TimeUnit.SECONDS), () -> "it does not end\n" + text());
        assertEquals(0, run.exitValue(), this::text);
    }

    /** The same number of steps in one incarnation, without udckpt. */
    private Path undisturbed() throws Exception {
        String steps = Files.readString(commands.output(name)).lines().filter(line -> line.startsWith("result "))
                .map(line -> line.substring(7)).findFirst().orElseThrow();
        Path wanted = Files.createTempDirectory(directory, "wanted");
        Process process =
                new ProcessBuilder("mpiexec.hydra", "-n", "2", program.toString(), wanted.toString(), steps, "none")
                        .redirectErrorStream(true).redirectOutput(directory.resolve("wanted.out").toFile()).start();
        assertTrue(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS), "the program alone does not end");
        assertEquals(0, process.exitValue());
        return wanted;
    }

    private void equalToUndisturbed(Path found) throws Exception {
        Map<String, String> wanted = contents(undisturbed());
        assertTrue(wanted.size() > 10, wanted.toString()); // a longer run makes more
        assertEquals(wanted, contents(found), this::text);
    }

    private static Map<String, String> contents(Path directory) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).filter(
                    path -> !path.toString().contains(".udckpt-rolled-back-") && !path.toString().endsWith(".tmp"))
                    .toList()) {
                contents.put(directory.relativize(file).toString(),
                        Files.size(file) + " " + Arrays.hashCode(Files.readAllBytes(file)));
            }
        }
        return contents;
    }

    private void good() throws Exception {
        end();
        new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
    }

    private void end() throws Exception {
        if (run != null && run.isAlive()) {
            run.destroyForcibly().waitFor();
        }
        if (Files.exists(directory)) {
            RankProcesses.kill(commands.runtime().resolve("job"));
        }
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        try {
            for (String one : List.of("first", "second", "third", "checkpoint", "bad", "refused")) {
                text.append(commands.printed(one));
            }
        } catch (IOException e) {
            text.append(e);
        }
        return text.toString();
    }
}
