package org.udckpt.lifecycle;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.udckpt.cluster.NodeJob;
import org.udckpt.cluster.Unit;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.NodeReader;
import org.udckpt.inspect.plan.PlacementConstraints;
import org.udckpt.launch.HostLayout;
import org.udckpt.launch.LaunchMode;
import org.udckpt.launch.OwnCommandLine;
import org.udckpt.lifecycle.lead.Placer;
import org.udckpt.lifecycle.unit.UnitRun;
import org.udckpt.process.restore.Relocation;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.JobState;
import org.udckpt.store.StateTables;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.runtime.RuntimeDirectory;

/**
 * An image of a job of several agents, and what a restart makes of it: read and checked, before anything is started.
 *
 * @param state the job's half
 * @param units each on the host where it was
 */
record MultiHostImage(ImageLocation location, CheckpointReader reader, JobState state, List<Unit> units) {
    /** @throws Failure 69 where one agent had all ranks, whichever hosts it simulated */
    static MultiHostImage read(ImageLocation location, CheckpointReader reader) throws IOException {
        JobState state = StateTables.readJob(reader);
        if (!StateTables.hasAgents(reader)) {
            throw new Failure(ExitCode.UNSUPPORTED, location.entry().directory()
                    + " is of a job on one host: restart it without --starter");
        }
        return new MultiHostImage(location, reader, state, units(reader, state));
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
     * The next incarnation.
     *
     * @param name  null: as before
     * @param moved where its files are now, as each host has them
     * @throws Failure what can be known here to be in the way of it
     */
    NodeJob next(int fanOut, String name, Placer place, Relocation moved) throws IOException {
        List<Unit> placed = place.place(units, ties());
        NodeJob job = new NodeJob(name == null ? state.row().name() : name, state.row().generation() + 1,
                LaunchMode.ofLabels(reader.manifest().labels()), placed, fanOut, "/",
                state.row().words(), OwnCommandLine.environment(),
                new NodeJob.Image(location.entry().directory().toString(), location.entry().id(), reader.mac(),
                        SharedFiles.owners(reader.nodes(), placed, moved), moved));
        requireNames(job);
        return job;
    }

    /** Its hosts, without ranks and without an image. */
    NodeJob asItWas(int fanOut) {
        return new NodeJob(state.row().name(), state.row().generation(),
                LaunchMode.ofLabels(reader.manifest().labels()), units, fanOut, "/", state.row().words(),
                OwnCommandLine.environment(), null);
    }

    private Function<Unit, String> ties() {
        return unit -> {
            try {
                return PlacementConstraints.of(reader.nodes().get(units.indexOf(unit)), state).toString();
            } catch (IOException e) {
                throw Failure.of("reading the common tables of " + unit.ranks(), e);
            }
        };
    }

    /** Each agent makes a directory of its unit's name. */
    static void requireNames(NodeJob job) {
        job.units().forEach(unit -> RuntimeDirectory.checkName(UnitRun.runtime(job, unit)));
    }
}
