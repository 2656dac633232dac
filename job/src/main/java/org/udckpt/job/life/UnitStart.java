package org.udckpt.job.life;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.NodeReader;
import org.udckpt.job.agent.Job;
import org.udckpt.job.agent.JobFacts;
import org.udckpt.job.agent.Surroundings;
import org.udckpt.job.checkpoint.UnitCheckpoints;
import org.udckpt.job.config.Installation;
import org.udckpt.job.config.Settings;
import org.udckpt.job.nodes.NodeJob;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.job.store.ImageOptions;
import org.udckpt.job.store.Keys;

/** A unit's ranks, and how they come to life. */
final class UnitStart implements AutoCloseable {
    private final Job job;
    private final UnitCheckpoints checkpoints;
    /** Null in a first life. */
    private final RestoredUnit restored;

    private UnitStart(Job job, UnitCheckpoints checkpoints, RestoredUnit restored) {
        this.job = job;
        this.checkpoints = checkpoints;
        this.restored = restored;
    }

    /**
     * Returns when the ranks run; those of a restarted job behind closed gates, with their verbs objects made again.
     *
     * @param number of the unit
     * @param ready  is given the job before its first rank runs
     */
    static UnitStart of(Installation installation, NodeJob nodes, int number, Settings settings, JobFacts facts, Surroundings around, Consumer<Job> ready) throws IOException, InterruptedException {
        RestoredUnit restored = null;
        Job job;
        if (nodes.image() == null) {
            job = FirstLife.start(settings, installation, facts, around, nodes.command(), around.environment(), ready);
        } else {
            restored = Restart.unit(settings, installation, open(nodes.image(), number, settings), facts, around, ready);
            job = restored.job();
        }
        UnitStart start = new UnitStart(job, new UnitCheckpoints(job, number, nodes.units().get(number).host(), ImageOptions.of(settings)), restored);
        try {
            Service.openUnit(job, start.checkpoints, installation.library());
            return start;
        } catch (IOException | RuntimeException e) {
            start.close();
            throw e;
        }
    }

    private static NodeReader open(NodeJob.Image image, int number, Settings settings) throws IOException {
        CheckpointReader reader = ImageLocation.find(image.directory(), Keys.user(settings)).open(Keys.user(settings));
        List<NodeReader> nodes = reader.nodes();
        return nodes.stream().filter(node -> node.index() == number).findFirst().orElseThrow(() -> {
            try {
                reader.close();
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
            return new Failure(ExitCode.CORRUPT, image.directory() + " has no unit " + number + ": it is of " + nodes.size() + " units");
        });
    }

    Job job() {
        return job;
    }

    UnitCheckpoints checkpoints() {
        return checkpoints;
    }

    /** All addresses of the job are known: queue pairs that had a peer get it again. */
    void connect() {
        restored.revival().connect();
    }

    /** All are connected: the gates open. */
    void open() {
        restored.open();
    }

    /** From any thread. */
    void end() {
        job.endElsewhere();
    }

    @Override
    public void close() {
        if (restored != null) {
            restored.close();
        } else {
            job.close();
        }
    }
}
