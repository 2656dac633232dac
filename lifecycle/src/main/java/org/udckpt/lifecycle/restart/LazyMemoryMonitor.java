package org.udckpt.lifecycle.restart;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.udckpt.agent.Job;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.process.restore.lazy.Filling;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * What becomes of a restarted job while its memory comes in from the image: it goes on when all is there, and ends when
 * it cannot come.
 */
final class LazyMemoryMonitor {
    private static final long LEAST = 64L << 20; // less than that is read before anybody would notice
    private static final String AUTO = "auto";

    private final Job job;
    private final CheckpointReader reader;
    private final Filling filling;
    private final RestartPhases phases;
    private final CompletableFuture<Void> broken = new CompletableFuture<>();

    private LazyMemoryMonitor(Job job, CheckpointReader reader, Filling filling, RestartPhases phases) {
        this.phases = phases;
        this.job = job;
        this.reader = reader;
        this.filling = filling;
    }

    /**
     * So many bytes must be able to wait; says why when none may.
     *
     * @param pinned  the library is going to register memory with a real device
     * @param refusal {@link org.udckpt.process.restore.lazy.Support#refusal}
     */
    static long least(Settings settings, boolean pinned, String refusal) {
        if (!settings.choice(Option.LAZY).equals(AUTO)) {
            return Long.MAX_VALUE;
        }
        if (pinned) {
            Messages.info("all memory is read before the job runs: a device (RDMA, GPU) pins it");
            return Long.MAX_VALUE;
        }
        if (refusal != null) {
            Messages.info("all memory is read before the job runs: " + refusal
                    + "; 'udckpt check' says what to do, --lazy no avoids this message");
            return Long.MAX_VALUE;
        }
        return LEAST;
    }

    /** The processes run, but do not have all that they need yet: {@link #follow} is still to come. */
    static LazyMemoryMonitor begun(Job job, CheckpointReader reader, Filling filling, RestartPhases phases) {
        job.filling(job.owns(filling));
        LazyMemoryMonitor arrival = new LazyMemoryMonitor(job, reader, filling, phases);
        if (filling.bytes() > 0) {
            Messages.info("the ranks" + ofUnit(job) + " start to run, " + Durations.format(phases.sinceStartNs())
                    + " after the start; " + Durations.bytes(filling.missing()) + " of their memory follow");
        }
        filling.filled().whenComplete((_, failure) -> {
            if (failure != null) {
                arrival.broken.completeExceptionally(arrival.said(failure));
            }
        });
        return arrival;
    }

    /**
     * Waits for something that processes do, for which they may need memory that cannot come: a {@link Failure} that
     * says so.
     */
    <T> T await(CompletableFuture<T> answer) {
        CompletableFuture.anyOf(broken, answer).join();
        return answer.join();
    }

    /** See {@link #await}. */
    void check() {
        if (broken.isDone()) {
            throw (Failure) broken.exceptionNow();
        }
    }

    /**
     * From now on the job runs by itself. {@code reader} is closed when it is not needed any more; the job closes it
     * too.
     */
    void follow() {
        filling.filled().whenComplete((_, failure) -> ended(failure));
    }

    /** The unit's name in messages; "" for a job that has one agent. */
    private static String ofUnit(Job job) {
        String runtime = job.runtime().name(), name = job.facts().name();
        return runtime.equals(name) ? "" : " of unit " + runtime.substring(name.length() + 1);
    }

    private Failure said(Throwable failure) {
        Throwable cause = failure instanceof CompletionException wrapped ? wrapped.getCause() : failure;
        return Failure.of("memory" + ofUnit(job) + " of job " + job.facts().name() + " from " + reader.directory(),
                cause);
    }

    private void ended(Throwable failure) {
        if (failure != null) {
            Failure said = said(failure);
            Messages.error(said.getMessage() + "; the job is ended, because this memory is missing", said);
            job.ranks().end(said.code().value(), said.getMessage());
        } else if (filling.bytes() > 0) {
            Messages.info("all memory" + ofUnit(job) + " is read, " + Durations.format(phases.sinceStartNs())
                    + " after the start");
        }
        try {
            reader.close();
        } catch (IOException e) {
            Messages.debugTrace("closing the checkpoint", e);
        }
    }
}
