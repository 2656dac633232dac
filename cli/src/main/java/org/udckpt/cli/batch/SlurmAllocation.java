package org.udckpt.cli.batch;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Optional;
import org.udckpt.launch.slurm.SlurmCommand;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * The Slurm job whose batch script this process is, asked by squeue(1) and scontrol(1).
 *
 * @param id its number, which it keeps when it is queued again, and which no other job has
 * @param asked what squeue and scontrol know it by: one task of an array has the whole array's number
 */
public record SlurmAllocation(String id, String asked) {
    private static final int ENDED_BY_TERM = 128 + 15;

    /** Empty outside of Slurm. */
    public static Optional<SlurmAllocation> of(Map<String, String> environment) {
        String task = environment.get("SLURM_ARRAY_TASK_ID");
        return Optional.ofNullable(environment.get("SLURM_JOB_ID"))
                .map(id -> new SlurmAllocation(id,
                        task == null ? id : environment.getOrDefault("SLURM_ARRAY_JOB_ID", id) + "_" + task));
    }

    /** When Slurm is going to end it, by its limit or because another job is preferred; empty: nobody knows. */
    public Optional<Instant> end() {
        try {
            return Optional.of(LocalDateTime.parse(SlurmCommand.ask("squeue", "-h", "-j", asked, "-o", "%e"))
                    .toInstant(ZoneOffset.UTC));
        } catch (DateTimeParseException noTime) { // a job without a limit has N/A
            return Optional.empty();
        } catch (Failure e) {
            Messages.warn("cannot find out when Slurm job " + asked + " ends: " + e.getMessage());
            return Optional.empty();
        }
    }

    /**
     * Puts it back into the queue: Slurm ends all its processes, with SIGTERM, then SIGKILL.
     *
     * @throws Failure when it stays as it is
     */
    public void requeue() {
        SlurmCommand.Answer answer = SlurmCommand.run("scontrol", "requeue", asked);
        boolean ended = answer.code() == ENDED_BY_TERM; // it is one of the job's processes, and Slurm was quicker
        if (!ended && (answer.code() != 0 || !answer.said().isEmpty())) {
            // refused, it ends with 0 all the same, but says so
            throw new Failure(ExitCode.PERMISSION,
                    answer.said().isEmpty() ? "scontrol ended with code " + answer.code() : answer.said());
        }
    }
}
