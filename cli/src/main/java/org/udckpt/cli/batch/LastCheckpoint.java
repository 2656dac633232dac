package org.udckpt.cli.batch;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.udckpt.agent.command.CommandClient;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.runtime.RuntimeDirectory;

/**
 * The end of a batch job's present turn. Warned that its time is nearly over, it takes a checkpoint and ends the job
 * with it; one that fails is tried again while there is time. The job is queued again, also with an older checkpoint,
 * provided that this turn brought one: else it would begin at the same place for ever.
 */
public final class LastCheckpoint {
    /** Exit code of a turn that is not the last one: EX_TEMPFAIL, for RequeueExit and the like. */
    public static final int CODE = ExitCode.BUSY.value();
    /**
     * What the job gives that its last checkpoint ended: no program's code, so also when the answer to the request was
     * lost.
     */
    static final int TAKEN = 256;
    private static final Duration RESERVE = Duration.ofSeconds(10); // for queueing it again
    private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
    private static final long FOREVER_DAYS = 36500;

    private final Settings settings;
    private final String name;
    private final Optional<SlurmAllocation> allocation;
    private final BooleanSupplier gotFurther;
    private final AtomicBoolean warned = new AtomicBoolean();
    private final CountDownLatch over = new CountDownLatch(1);
    private final CompletableFuture<Boolean> taken = new CompletableFuture<>();
    private volatile boolean queuedAgain;

    /**
     * @param name of the job
     * @param allocation empty outside of Slurm, where its exit code alone says that it wants another turn
     * @param gotFurther whether there is a checkpoint that was not there when this turn began
     */
    public LastCheckpoint(Settings settings, String name, Optional<SlurmAllocation> allocation,
            BooleanSupplier gotFurther) {
        this.settings = settings;
        this.name = name;
        this.allocation = allocation;
        this.gotFurther = gotFurther;
    }

    /** The time is nearly over. Returns at once; heard again, it says nothing new. */
    public void warned() {
        if (!warned.getAndSet(true)) {
            Thread.ofPlatform().daemon().name("last-checkpoint").start(this::take);
            Thread.ofPlatform().daemon().name("last-moment").start(this::watch);
        }
    }

    private void take() {
        Messages.info("job " + name + " received USR1, its time is nearly over: it ends with a checkpoint");
        boolean done = false;
        try {
            done = untilTaken();
        } catch (InterruptedException e) {
            Messages.error("the last checkpoint of job " + name + " is abandoned", e);
        } finally {
            taken.complete(done);
        }
    }

    /** False: the job ended before. */
    private boolean untilTaken() throws InterruptedException {
        for (Duration pause = SHORTEST_PAUSE; !attempt(); pause = longer(pause)) {
            if (over.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
                return false;
            }
        }
        return true;
    }

    private static Duration longer(Duration pause) {
        Duration twice = pause.multipliedBy(2);
        return twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
    }

    private boolean attempt() {
        try (CommandClient client = CommandClient.connect(RuntimeDirectory.find(settings, name))) {
            client.ask(client.request("checkpoint").put("kill", true).put("code", TAKEN).put("wait", true),
                    LastCheckpoint::tell);
            return true;
        } catch (RuntimeException e) {
            if (over.getCount() > 0) { // else the job has ended by itself, which is better still
                Messages.error(Failure.of("the last checkpoint", e).getMessage() + "; trying again", e);
            }
            return false;
        }
    }

    private static void tell(JsonNode event) {
        if (event.has("message")) { // the others are for progress bars
            Messages.info(event.path("message").asText());
        }
    }

    /** When no more time is left than it takes to queue the job again, it is queued as it is. */
    private void watch() {
        Optional<Instant> last = allocation.flatMap(SlurmAllocation::end).map(end -> end.minus(RESERVE));
        try {
            taken.get(last.map(moment -> Duration.between(Instant.now(), moment).toMillis())
                    .orElse(TimeUnit.DAYS.toMillis(FOREVER_DAYS)), TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            withoutLastCheckpoint();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e); // nobody interrupts, and it never completes so
        }
    }

    private void withoutLastCheckpoint() {
        try {
            if (!gotFurther.getAsBoolean()) {
                Messages.error("there is no time left for a checkpoint of job " + name
                        + ", and none was taken in this turn: the job is not queued again, because it would make no "
                        + "progress", null);
                return;
            }
            Messages.error("there is no time left for another checkpoint of job " + name
                    + ": it will continue from an older one", null);
        } catch (RuntimeException e) { // a turn in vain costs less than a job that is lost
            Messages.error("there is no time left for a checkpoint of job " + name
                    + ", and it is unknown whether this turn has taken an older one: "
                    + Failure.of("looking for it", e).getMessage(), e);
        }
        queueAgain();
    }

    /**
     * The job's processes are gone, or Slurm is ending them.
     *
     * @param code the job's own, or {@link #TAKEN}
     * @return the code to end with
     */
    public int ended(int code) throws InterruptedException {
        over.countDown();
        if (!warned.get()) {
            return own(code);
        }
        boolean done;
        try {
            done = taken.get() || code == TAKEN;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e); // it never completes so
        }
        if (done && !queuedAgain) {
            queueAgain();
        }
        return done || queuedAgain ? CODE : own(code);
    }

    /** A program's code that would be taken for the wish for another turn, for ever. */
    private int own(int code) {
        if (code != CODE) {
            return code;
        }
        Messages.error("job " + name + " ended by itself with code " + code
                + ", which batch uses to ask for another turn: it exits with " + ExitCode.NO_OTHER_TURN.value(), null);
        return ExitCode.NO_OTHER_TURN.value();
    }

    private void queueAgain() {
        if (allocation.isEmpty()) {
            Messages.info("job " + name + " continues from its checkpoint when the same command is run again (code "
                    + CODE + ")");
            return;
        }
        try {
            queuedAgain = true; // before it is: Slurm kills at once
            allocation.get().requeue();
            Messages.info("job " + name + " is queued again as Slurm job " + allocation.get().asked());
        } catch (Failure e) {
            queuedAgain = false;
            Messages.error("Slurm did not queue job " + allocation.get().asked() + " again: " + e.getMessage()
                    + "; if RequeueExit contains code " + CODE + ", Slurm requeues it now, else submit the same "
                    + "script again", e);
        }
    }
}
