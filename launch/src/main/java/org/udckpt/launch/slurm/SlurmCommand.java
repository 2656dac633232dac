package org.udckpt.launch.slurm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Commands of Slurm, run to their end; what they say of times is in UTC. */
public final class SlurmCommand {
    // they try for some time to reach a controller that is being replaced
    private static final long ANSWER_SECONDS = 60;

    /** What a command printed, on both streams, and its exit code. */
    public record Answer(int code, String said) {}

    private SlurmCommand() {}

    /** @throws Failure if it fails, with what it said */
    public static String ask(String... command) {
        Answer answer = run(command);
        if (answer.code() != 0) {
            throw new Failure(ExitCode.IO,
                    String.join(" ", command) + " ended with code " + answer.code() + ": " + answer.said());
        }
        return answer.said();
    }

    /** @throws Failure if there is no such command, or no answer within a minute */
    public static Answer run(String... command) {
        try {
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            builder.environment().put("TZ", "UTC");
            builder.environment().put("SLURM_TIME_FORMAT", "standard");
            Process process = builder.start();
            process.getOutputStream().close();
            CompletableFuture<String> said = CompletableFuture.supplyAsync(() -> text(process));
            if (!process.waitFor(ANSWER_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new Failure(ExitCode.TIMEOUT, command[0] + " did not end in " + ANSWER_SECONDS + " s");
            }
            return new Answer(process.exitValue(), said.join());
        } catch (IOException e) {
            throw Failure.of("asking Slurm", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of("asking Slurm", e);
        }
    }

    private static String text(Process process) {
        try {
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
