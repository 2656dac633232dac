package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.udckpt.system.cli.ScriptedJava;

/** A job called "job" of two ranks with an agent each, on this machine, that runs until {@link #finish}. */
final class LocalAgents implements AutoCloseable {
    static final int SECONDS = 60;

    private static final List<String> UDCKPT =
            List.of("-Xmx256m", "-Dudckpt.native=" + System.getProperty("udckpt.native"), "org.udckpt.cli.Main");

    final Path directory;
    final Process lead;

    /** Returns when both ranks run. @param errors of all processes */
    LocalAgents(Path directory, File errors) throws Exception {
        this.directory = directory;
        Path agent = agent(directory);
        List<String> words = words("run", UDCKPT);
        words.addAll(List.of("run", "--starter", "local", "--hosts", "a:1,b:1", "--lease", "3s", "--name", "job",
                "--dir", directory.resolve("images").toString(), "--", "sh", "-c",
                "touch ready.$PMI_RANK; while [ ! -e finish ]; do sleep 0.1; done"));
        ProcessBuilder builder = new ProcessBuilder(words).directory(directory.toFile());
        builder.environment().putAll(
                Map.of("UDCKPT_RUNTIME", directory.resolve("run").toString(), "UDCKPT_REMOTE", agent.toString()));
        lead = builder.redirectInput(new File("/dev/null")).redirectOutput(directory.resolve("out").toFile())
                .redirectError(errors).start();
        await(() -> Files.exists(directory.resolve("ready.0")) && Files.exists(directory.resolve("ready.1")));
    }

    /** The udckpt of a test's agents (UDCKPT_REMOTE), a script in this directory. */
    static Path agent(Path directory) throws IOException {
        String words = words("agent", UDCKPT).stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "));
        Path agent = Files.writeString(directory.resolve("udckpt"), "#!/bin/sh\nexec " + words + " \"$@\"\n");
        return Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwx------"));
    }

    private static List<String> words(String verb, List<String> udckpt) {
        List<String> words = new ArrayList<>(ScriptedJava.command(verb));
        words.addAll(udckpt);
        return words;
    }

    Path runtime() {
        return directory.resolve("run").resolve("job");
    }

    void await(RunningJob.Condition condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!condition.holds()) {
            assertTrue(System.nanoTime() < end && lead.isAlive(), "it does not come");
            Thread.sleep(20);
        }
    }

    void finish() throws IOException {
        Files.createFile(directory.resolve("finish"));
    }

    /** The job's exit code. */
    int end() throws InterruptedException {
        assertTrue(lead.waitFor(SECONDS, TimeUnit.SECONDS), "the job does not end");
        return lead.exitValue();
    }

    @Override
    public void close() throws InterruptedException {
        lead.destroyForcibly().waitFor();
    }
}
