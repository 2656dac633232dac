package org.udckpt.job.batch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;

/**
 * The Slurm job whose batch script this process is, asked by squeue(1) and scontrol(1).
 *
 * @param id its number, which it keeps when it is queued again, and which no other job has
 * @param asked what squeue and scontrol know it by: one task of an array has the whole array's number
 */
public record SlurmAllocation(String id, String asked) {
    private static final long ANSWER_SECONDS = 60; // they try for some time to reach a controller that is being replaced
    private static final int ENDED_BY_TERM = 128 + 15;

    /** What a command printed, on both streams, and its exit code. */
    private record Answer(int code, String said) {}

    /** Empty outside of Slurm. */
    public static Optional<SlurmAllocation> of(Map<String, String> environment) {
        String task = environment.get("SLURM_ARRAY_TASK_ID");
        return Optional.ofNullable(environment.get("SLURM_JOB_ID"))
                .map(id -> new SlurmAllocation(id, task == null ? id : environment.getOrDefault("SLURM_ARRAY_JOB_ID", id) + "_" + task));
    }

    /** When Slurm is going to end it, by its limit or because another job is preferred; empty: nobody knows. */
    public Optional<Instant> end() {
        try {
            return Optional.of(LocalDateTime.parse(ask("squeue", "-h", "-j", asked, "-o", "%e")).toInstant(ZoneOffset.UTC));
        } catch (DateTimeParseException noTime) { // a job without a limit has N/A
            return Optional.empty();
        } catch (Failure e) {
            Messages.warn("when job " + asked + " is going to be ended cannot be asked: " + e.getMessage());
            return Optional.empty();
        }
    }

    /** Puts it back into the queue: Slurm ends all its processes, with SIGTERM, then SIGKILL. @throws Failure when it stays as it is */
    public void requeue() {
        Answer answer = run("scontrol", "requeue", asked);
        boolean ended = answer.code() == ENDED_BY_TERM; // it is one of the job's processes, and Slurm was quicker
        if (!ended && (answer.code() != 0 || !answer.said().isEmpty())) { // refused, it ends with 0 all the same, but says so
            throw new Failure(ExitCode.PERMISSION, answer.said().isEmpty() ? "scontrol ended with code " + answer.code() : answer.said());
        }
    }

    private static String ask(String... command) {
        Answer answer = run(command);
        if (answer.code() != 0) {
            throw new Failure(ExitCode.IO, String.join(" ", command) + " ended with code " + answer.code() + ": " + answer.said());
        }
        return answer.said();
    }

    private static Answer run(String... command) {
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
