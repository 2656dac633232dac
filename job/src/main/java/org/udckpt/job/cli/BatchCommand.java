package org.udckpt.job.cli;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.job.agent.Signals;
import org.udckpt.job.batch.LastCheckpoint;
import org.udckpt.job.batch.SlurmAllocation;
import org.udckpt.job.launch.RawText;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.job.store.JobState;
import org.udckpt.job.store.Keys;
import org.udckpt.job.store.StateTables;
import org.udckpt.job.store.Tiers;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code udckpt batch}: one turn of a job that may need several; the same command begins it and goes on with it (docs/user/slurm.md). */
@Command(name = "batch", description = "Run a program in a batch script: from its newest checkpoint where there is one, and with a checkpoint at the end of its time (signal USR1).")
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
            throw new Failure(ExitCode.USAGE, "there is no SLURM_JOB_ID: give --dir (or --name), so that the job finds its checkpoints in its next turn");
        }
        NewJob job = options.check(common.settings(), allocation.map(slurm -> "slurm-" + slurm.id()).orElse(null));
        if (job.nodes().isEmpty() && !options.hosted()) {
            requireOneNode(System.getenv().getOrDefault(NODES, ONE));
        }
        List<ImageLocation> images = complete(job);
        LastCheckpoint last = new LastCheckpoint(job.settings(), job.name(), allocation, () -> newest(complete(job)) > newest(images));
        Signals.keepUser1(last::warned);
        int code = images.isEmpty() ? job.run() : goOn(job, images);
        Signals.redirect(signal -> { }); // Slurm's TERM to all processes of a job that is queued again: it is ending
        return last.ended(code);
    }

    private static void requireOneNode(String nodes) {
        if (!nodes.equals(ONE)) {
            throw new Failure(ExitCode.UNSUPPORTED, NODES + " is " + nodes + ", and this job's processes would all be on one of them: give -n N, or submit it with --nodes=1");
        }
    }

    /** From the newest that can be read: nobody is there who could choose another one. */
    private static int goOn(NewJob job, List<ImageLocation> images) throws InterruptedException {
        ImageLocation.find(place(job), Keys.user(job.settings())); // warns of newer ones that are none
        for (ImageLocation image : images) {
            try {
                requireSame(job, image);
                ImageLocation whole = whole(job, image);
                Messages.info("job " + job.name() + " goes on from " + whole.entry().directory());
                return job.goOn(whole);
            } catch (Failure e) {
                if (e.code() != ExitCode.CORRUPT || image.equals(images.getLast())) {
                    throw e;
                }
                Messages.error(e.getMessage() + "; the one before is tried", e);
            }
        }
        throw new IllegalArgumentException("no image");
    }

    /** One that cannot be had from its hosts is as good as damaged. */
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
        return ImageLocation.all(place, Keys.user(job.settings())).stream().filter(image -> image.entry().state() == Catalogue.State.COMPLETE).toList().reversed();
    }

    private static long newest(List<ImageLocation> images) {
        return images.isEmpty() ? 0 : images.getFirst().entry().id();
    }

    /** Who changes the command and forgets the directory does not want the old one to go on. */
    private static void requireSame(NewJob job, ImageLocation image) {
        JobState state;
        try (CheckpointReader reader = image.openJob(Keys.user(job.settings()))) {
            state = StateTables.readJob(reader);
        } catch (IOException e) {
            throw Failure.of("reading " + image.entry().directory(), e);
        }
        List<String> now = job.command().stream().map(RawText::shown).toList();
        if (!state.row().words().equals(now) || state.layout().ranks() != job.layout().ranks()) {
            throw new Failure(ExitCode.USAGE, image.entry().directory() + " is of another job (" + String.join(" ", state.row().words()) + ", " + state.layout().ranks()
                    + (state.layout().ranks() == 1 ? " rank" : " ranks") + "), not of " + String.join(" ", now) + " with " + job.layout().ranks()
                    + ": give another --dir, or remove that one's checkpoints");
        }
    }
}
