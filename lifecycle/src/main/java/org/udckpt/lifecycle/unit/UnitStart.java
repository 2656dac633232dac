package org.udckpt.lifecycle.unit;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import org.udckpt.agent.Job;
import org.udckpt.agent.JobContext;
import org.udckpt.agent.JobFacts;
import org.udckpt.cluster.NodeJob;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.NodeReader;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.lifecycle.checkpoint.UnitCheckpoints;
import org.udckpt.lifecycle.job.JobService;
import org.udckpt.lifecycle.job.JobStart;
import org.udckpt.lifecycle.job.JobStorage;
import org.udckpt.lifecycle.restart.Relocations;
import org.udckpt.lifecycle.restart.Restart;
import org.udckpt.lifecycle.restart.UnitRestart;
import org.udckpt.process.restore.Relocation;
import org.udckpt.store.Keys;
import org.udckpt.store.MemoryOwners;
import org.udckpt.store.Tiers;
import org.udckpt.support.config.Installation;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/** A unit's ranks, and how they are started. */
final class UnitStart implements AutoCloseable {
    private final Job job;
    private final UnitCheckpoints checkpoints;
    private final Installation installation;
    /** Null in a first incarnation. */
    private final UnitRestart restart;

    private UnitStart(Installation installation, Job job, UnitCheckpoints checkpoints, UnitRestart restart) {
        this.installation = installation;
        this.job = job;
        this.checkpoints = checkpoints;
        this.restart = restart;
    }

    /**
     * Of a job that begins: returns when the ranks run.
     *
     * @param number of the unit
     * @param ready  is given the job before its first rank runs
     */
    static UnitStart first(Installation installation, NodeJob nodes, int number, Settings settings,
            WriterOptions options, JobFacts facts, JobContext around, Consumer<Job> ready)
            throws IOException {
        UnitStart start = of(installation, nodes, number, settings, options,
                JobStart.start(settings, installation, facts, around, nodes.command(), around.environment(), ready),
                null);
        try {
            start.serve();
            return start;
        } catch (IOException | RuntimeException e) {
            start.close();
            throw e;
        }
    }

    /** Starts a unit of a job that is restarted: returns when the unit's files are put back. */
    static UnitStart again(Installation installation, NodeJob nodes, int number, Settings settings,
            WriterOptions options, JobFacts facts, JobContext around, Consumer<Job> ready)
            throws IOException {
        Relocation here = Relocations.here(nodes.image().moved());
        UnitRestart restart = Restart.unit(settings, installation, open(nodes.image(), number, settings), facts, around,
                here, nodes.image().elsewhere(number, here), ready);
        try {
            return of(installation, nodes, number, settings, options, restart.job(), restart);
        } catch (RuntimeException e) {
            restart.close();
            throw e;
        }
    }

    private static UnitStart of(Installation installation, NodeJob nodes, int number, Settings settings,
            WriterOptions options, Job job, UnitRestart restart) {
        UnitCheckpoints.Place place = new UnitCheckpoints.Place(number, nodes.units().get(number).host(),
                JobStorage.parts(settings, nodes.name()), JobStorage.shared(settings));
        return new UnitStart(installation, job, new UnitCheckpoints(job, place, options), restart);
    }

    private void serve() throws IOException {
        JobService.openUnit(job, checkpoints, installation.library());
    }

    /** From this host's own part, where it still has that. */
    private static NodeReader open(NodeJob.Image image, int number, Settings settings) {
        try {
            CheckpointReader reader =
                    same(image, CheckpointReader.openNode(Path.of(image.directory()), Keys.user(settings), number));
            Optional<HostParts> own =
                    JobStorage.parts(settings, reader.manifest().labels().getOrDefault(JobStorage.JOB, ""));
            if (own.isPresent() && LocalStorage.INSTANCE.hasDirectory(own.get().part(number, image.number()))) {
                reader.close();
                reader = same(image,
                        CheckpointReader.openNode(Path.of(image.directory()), Keys.user(settings), own.get(), number,
                                part -> Messages.warn(part + " is of another checkpoint with this number: reading "
                                        + image.directory() + " instead")));
            }
            Tiers.of(settings).flatMap(tiers -> tiers.other(Path.of(image.directory()))).ifPresent(reader::copied);
            return reader.naming(MemoryOwners::of).node(number); // which is closed with the job
        } catch (IOException e) {
            throw Failure.of("opening unit " + number + " of " + image.directory(), e);
        }
    }

    /** The lead has looked at exactly that one. */
    private static CheckpointReader same(NodeJob.Image image, CheckpointReader reader) throws IOException {
        if (!reader.mac().equals(image.mac())) {
            reader.close();
            throw new Failure(ExitCode.BUSY, image.directory() + " is a different checkpoint here than on the lead: "
                    + "it was replaced, or the hosts do not share this directory; try again");
        }
        return reader;
    }

    Job job() {
        return job;
    }

    UnitCheckpoints checkpoints() {
        return checkpoints;
    }

    /**
     * The files of all units are put back: the processes are restored, behind closed gates, with their verbs objects
     * made again.
     *
     * @return what the time went into, for people
     */
    String revive() throws IOException, InterruptedException {
        return restart.revive();
    }

    /** All addresses of the job are known: queue pairs that had a peer get it again. */
    void connect() {
        restart.connect();
    }

    /** All are connected: the gates open. */
    void open() throws IOException {
        restart.open();
        serve();
    }

    /** The lead's word of the whole job, of one that is restarted. */
    void begun(boolean all) {
        restart.begun(all);
    }

    /** From any thread. */
    void end() {
        job.endElsewhere();
        checkpoints.end();
    }

    @Override
    public void close() {
        if (restart != null) {
            restart.close();
        } else {
            job.close();
        }
    }
}
