package org.udckpt.job.life;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.NodeReader;
import org.udckpt.job.launch.HostLayout;
import org.udckpt.job.launch.Launch;
import org.udckpt.job.launch.RawText;
import org.udckpt.job.nodes.NodeJob;
import org.udckpt.job.nodes.Unit;
import org.udckpt.job.plan.Ties;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.runtime.RuntimeDirectory;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.job.store.JobState;
import org.udckpt.job.store.StateTables;
import org.udckpt.process.restore.Relocation;

/**
 * An image of a job of several agents, and what a restart makes of it: read and checked, before anything is started.
 *
 * @param state the job's half
 * @param units each on the host where it was
 */
record SeveralImage(ImageLocation location, CheckpointReader reader, JobState state, List<Unit> units) {
    /** @throws Failure 69 where one agent had all ranks, whichever hosts it simulated */
    static SeveralImage read(ImageLocation location, CheckpointReader reader) throws IOException {
        JobState state = StateTables.readJob(reader);
        if (!StateTables.hasAgents(reader)) {
            throw new Failure(ExitCode.UNSUPPORTED, location.entry().directory() + " is of a job that one process had all ranks of: restart it without --starter");
        }
        return new SeveralImage(location, reader, state, units(reader, state));
    }

    private static List<Unit> units(CheckpointReader reader, JobState state) {
        List<Unit> units = new ArrayList<>();
        int first = 0;
        List<NodeReader> nodes = reader.nodes();
        for (int number = 0; number < nodes.size(); number++) {
            HostLayout.Host host = state.layout().hosts().get(number);
            units.add(new Unit(host.name(), nodes.get(number).host(), first, host.ranks()));
            first += host.ranks();
        }
        return units;
    }

    /**
     * The next life.
     *
     * @param name  null: as before
     * @param moved where its files are now, as each host has them
     * @throws Failure what can be known here to be in the way of it
     */
    NodeJob next(int fanOut, String name, Placer place, Relocation moved) throws IOException {
        List<Unit> placed = place.place(units, ties());
        NodeJob job = new NodeJob(name == null ? state.row().name() : name, state.row().generation() + 1, Launch.ofLabels(reader.manifest().labels()), placed, fanOut, "/",
                state.row().words(), RawText.environment(),
                new NodeJob.Image(location.entry().directory().toString(), location.entry().id(), reader.mac(), SharedFiles.owners(reader.nodes(), placed, moved), moved));
        requireNames(job);
        return job;
    }

    /** Its hosts, without ranks and without an image. */
    NodeJob asItWas(int fanOut) {
        return new NodeJob(state.row().name(), state.row().generation(), Launch.ofLabels(reader.manifest().labels()), units, fanOut, "/", state.row().words(), RawText.environment(), null);
    }

    private Function<Unit, String> ties() {
        return unit -> {
            try {
                return Ties.of(reader.nodes().get(units.indexOf(unit)), state).toString();
            } catch (IOException e) {
                throw Failure.of("reading what " + unit.ranks() + " share", e);
            }
        };
    }

    /** Each agent makes a directory of its unit's name. */
    static void requireNames(NodeJob job) {
        job.units().forEach(unit -> RuntimeDirectory.checkName(UnitLife.runtime(job, unit)));
    }
}
