package org.udckpt.bench.command;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One running command with its two output streams. Closing it ends the command: with SIGTERM, which
 * {@code udckpt run} hands to its job, then with SIGKILL for it and for whatever descends from it.
 */
public final class Command implements AutoCloseable {
    private static final Duration GRACE = Duration.ofSeconds(5);
    private final List<String> words;
    private final Process process;
    private final Transcript output;
    private final Transcript errors;

    private Command(List<String> words, Process process, Consumer<String> echo) {
        this.words = words;
        this.process = process;
        output = new Transcript("output", process.getInputStream(), echo);
        errors = new Transcript("errors", process.getErrorStream(), line -> {});
    }

    /** Starts {@code words} in {@code directory} with additional environment; standard input is empty. */
    public static Command start(Path directory, Map<String, String> environment, Consumer<String> echo,
            List<String> words)
            throws IOException {
        var builder =
                new ProcessBuilder(words).directory(directory.toFile()).redirectInput(Path.of("/dev/null").toFile());
        builder.environment().putAll(environment);
        return new Command(words, builder.start(), echo);
    }

    public Transcript output() {
        return output;
    }

    public Transcript errors() {
        return errors;
    }

    public long pid() {
        return process.pid();
    }

    public boolean isRunning() {
        return process.isAlive();
    }

    /**
     * Waits for the end of the command.
     *
     * @return its exit code
     * @throws BenchFailure when it still runs after {@code limit}
     */
    public int await(Duration limit) throws InterruptedException {
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new BenchFailure("still running after " + limit.toSeconds() + " s: " + describe());
        }
        return process.exitValue();
    }

    /**
     * Waits for an end with exit code 0.
     *
     * @return all lines of its standard output
     */
    public List<String> awaitSuccess(Duration limit) throws InterruptedException {
        int code = await(limit);
        if (code != 0) {
            errors.allLines();
            throw new BenchFailure("exit code " + code + " from " + describe());
        }
        return output.allLines();
    }

    /**
     * Waits for an end with exit code 0, however long it takes, while its output goes on.
     *
     * @param silence between two lines of its output, and from the last one to its end
     * @return all lines of its standard output
     * @throws BenchFailure when it has printed nothing for so long
     */
    public List<String> awaitSuccessWhileTalking(Duration silence) throws InterruptedException {
        for (int before = output.size(); !process.waitFor(0, TimeUnit.SECONDS); before = output.size()) {
            boolean more = output.awaitMore(before, silence);
            if (!more || output.size() == before) { // silent, or it has closed its output
                if (!more || !process.waitFor(silence.toMillis(), TimeUnit.MILLISECONDS)) {
                    throw new BenchFailure("no output for " + silence.toSeconds() + " s: " + describe());
                }
            }
        }
        return awaitSuccess(silence);
    }

    /** The command line and the last lines of both streams, for error messages. */
    public String describe() {
        return String.join(" ", words) + "\n--- its output, last lines:\n" + tail(output)
                + "\n--- its errors, last lines:\n" + tail(errors);
    }

    private static String tail(Transcript transcript) {
        List<String> lines = transcript.lines();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
    }

    @Override
    public void close() {
        List<ProcessHandle> descendants = process.descendants().toList();
        ProcessHandle handle = process.toHandle(); // Process.destroy() would close the streams under the transcripts
        handle.destroy();
        try {
            if (!process.waitFor(GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
                handle.destroyForcibly();
                process.waitFor();
            }
        } catch (InterruptedException e) {
            handle.destroyForcibly();
            Thread.currentThread().interrupt();
        } finally {
            descendants.forEach(ProcessHandle::destroyForcibly);
        }
    }
}
