package org.udckpt.cli;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.udckpt.agent.SignalForwarding;
import org.udckpt.cli.batch.LastCheckpoint;
import org.udckpt.cli.batch.SlurmAllocation;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.linux.RawText;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.JobState;
import org.udckpt.store.Keys;
import org.udckpt.store.StateTables;
import org.udckpt.store.Tiers;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * {@code udckpt batch}: one turn of a job that may need several; the same command begins it and goes on with it
 * (docs/user/slurm.md).
 */
@Command(name = "batch", description = "Run a program in a batch script: restart it from its newest checkpoint if "
        + "there is one, and checkpoint it when its time ends (signal USR1).")
final class BatchCommand implements Callable<Integer> {
    private static final String NODES = "SLURM_JOB_NUM_NODES";
    private static final String ONE = "1";

    @Mixin
    private CommonOptions common;

    @Mixin
    private NewJobOptions options;

    @Override
    public Integer call() throws Exception {
        try {
            return turn();
        } catch (Failure e) { // one that could not begin has come no further: it must not be queued again for ever
            throw e.code() == ExitCode.BUSY ? new Failure(ExitCode.NO_OTHER_TURN, e.getMessage(), e) : e;
        }
    }

    private int turn() throws Exception {
        Optional<SlurmAllocation> allocation = SlurmAllocation.of(System.getenv());
        if (allocation.isEmpty() && !options.named() && !options.placed()) {
            throw new Failure(ExitCode.USAGE, "SLURM_JOB_ID is not set: give --dir or --name, so that the next turn "
                    + "finds the job's checkpoints");
        }
        NewJob job = options.check(common.settings(), allocation.map(slurm -> "slurm-" + slurm.id()).orElse(null));
        if (job.nodes().isEmpty() && !options.hosted()) {
            requireOneNode(System.getenv().getOrDefault(NODES, ONE));
        }
        List<ImageLocation> images = complete(job);
        LastCheckpoint last = new LastCheckpoint(job.settings(), job.name(), allocation,
                () -> newest(complete(job)) > newest(images));
        SignalForwarding.keepUser1(last::warned);
        int code = images.isEmpty() ? job.run() : goOn(job, images);
        // Slurm's TERM to all processes of a job that is queued again: it is ending
        SignalForwarding.redirect(signal -> {});
        return last.ended(code);
    }

    private static void requireOneNode(String nodes) {
        if (!nodes.equals(ONE)) {
            throw new Failure(ExitCode.UNSUPPORTED, NODES + " is " + nodes + ", but without -n all processes of this "
                    + "job run on one node: give -n N, or submit the script with --nodes=1");
        }
    }

    /** From the newest that can be read: nobody is there who could choose another one. */
    private static int goOn(NewJob job, List<ImageLocation> images) throws InterruptedException {
        ImageLocation.find(place(job), Keys.user(job.settings())); // warns of newer ones that are none
        for (ImageLocation image : images) {
            try {
                requireSame(job, image);
                ImageLocation whole = whole(job, image);
                Messages.info("job " + job.name() + " continues from " + whole.entry().directory());
                return job.goOn(whole);
            } catch (Failure e) {
                if (e.code() != ExitCode.CORRUPT || image.equals(images.getLast())) {
                    throw e;
                }
                Messages.error(e.getMessage() + "; trying the previous checkpoint", e);
            }
        }
        throw new IllegalArgumentException("no image");
    }

    /** An image that cannot be fetched from its hosts is treated as damaged. */
    private static ImageLocation whole(NewJob job, ImageLocation image) throws InterruptedException {
        try {
            return job.whole(image);
        } catch (Failure e) {
            throw image.entry().onHosts() ? new Failure(ExitCode.CORRUPT, e.getMessage(), e) : e;
        }
    }

    private static String place(NewJob job) {
        return Tiers.of(job.settings()).map(Tiers::format).orElse(job.images().toString());
    }

    /** The newest first; empty when there is none yet. @throws Failure when there are only damaged ones */
    private static List<ImageLocation> complete(NewJob job) {
        String place = place(job);
        try {
            ImageLocation.look(place, Keys.user(job.settings()));
        } catch (Failure e) {
            if (e.code() == ExitCode.NOT_FOUND) {
                return List.of();
            }
            throw e;
        }
        return ImageLocation.all(place, Keys.user(job.settings())).stream()
                .filter(image -> image.entry().state() == Catalogue.State.COMPLETE).toList().reversed();
    }

    private static long newest(List<ImageLocation> images) {
        return images.isEmpty() ? 0 : images.getFirst().entry().id();
    }

    /** A user who changes the command but not the directory does not want the old command continued. */
    private static void requireSame(NewJob job, ImageLocation image) {
        JobState state;
        try (CheckpointReader reader = image.openJob(Keys.user(job.settings()))) {
            state = StateTables.readJob(reader);
        } catch (IOException e) {
            throw Failure.of("reading " + image.entry().directory(), e);
        }
        List<String> now = job.command().stream().map(RawText::shown).toList();
        if (!state.row().words().equals(now) || state.layout().ranks() != job.layout().ranks()) {
            throw new Failure(ExitCode.USAGE, image.entry().directory() + " belongs to another job ("
                    + String.join(" ", state.row().words()) + ", " + state.layout().ranks()
                    + (state.layout().ranks() == 1 ? " rank" : " ranks") + "), not of " + String.join(" ", now)
                    + " with " + job.layout().ranks()
                    + ": give another --dir, or remove the other job's checkpoints");
        }
    }
}
