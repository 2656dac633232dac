package org.udckpt.cli;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.udckpt.cluster.Placement;
import org.udckpt.cluster.SpareHosts;
import org.udckpt.cluster.Unit;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.launch.HostLayout;
import org.udckpt.launch.slurm.SlurmNodes;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.Keys;
import org.udckpt.store.StateTables;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/** Where a job goes in an allocation of Slurm when its user says nothing of hosts: docs/user/slurm.md. */
final class InAllocation {
    private InAllocation() {}

    /**
     * The allocation's nodes for a new job, without its spares; empty: it has but one, or there is none, and the job
     * stays on this machine.
     */
    static Optional<HostLayout> forRanks(Settings settings, int ranks) {
        Optional<SlurmNodes> nodes = SlurmNodes.of(System.getenv()).filter(slurm -> slurm.tasks().hosts().size() > 1);
        Optional<HostLayout> layout = nodes
                .map(slurm -> new SlurmNodes(slurm.job(), SpareHosts.aside(settings, slurm.tasks())).holding(ranks));
        layout.ifPresent(chosen -> Messages.info("the job's ranks run on the nodes of Slurm job " + nodes.get().job()
                + ", srun starts its agents: " + chosen.format()
                + " (--hosts localhost:" + ranks + " keeps them on this host)"));
        return layout;
    }

    /**
     * The allocation's nodes for a checkpoint that one process cannot restart; empty: one can, or there is no
     * allocation.
     *
     * @param image as {@link ImageLocation#look} takes it
     */
    static Optional<SlurmNodes> forImage(Settings settings, String image) {
        return SlurmNodes.within(System.getenv()) ? forImage(settings, ImageLocation.look(image, Keys.user(settings)))
                : Optional.empty();
    }

    static Optional<SlurmNodes> forImage(Settings settings, ImageLocation image) {
        return SlurmNodes.within(System.getenv()) && isOfAgents(settings, image) ? SlurmNodes.of(System.getenv())
                : Optional.empty();
    }

    /** Whether it needs agents; else one process had all ranks, and has to again. */
    static boolean isOfAgents(Settings settings, ImageLocation image) {
        if (image.entry().onHosts()) {
            return true;
        }
        try (CheckpointReader reader = image.open(Keys.user(settings))) {
            return StateTables.hasAgents(reader);
        } catch (IOException e) {
            throw Failure.of("reading " + image.entry().directory(), e);
        }
    }

    /**
     * The ranks that stay together go where there is room for them, or else, since nobody is there to choose, to each
     * node as many of them.
     *
     * @param starter what starts the agents there
     */
    static List<Unit> place(String starter, HostLayout room, List<Unit> units, Function<Unit, String> ties) {
        List<Unit> placed = Placement.fitting(room, units).orElseGet(() -> {
            Messages.warn(
                    "the ranks that stay together (" + units.stream().map(Unit::ranks).collect(Collectors.joining(", "))
                            + ") do not fit into " + room.format()
                            + "; they are spread over the nodes regardless of free slots");
            return Placement.over(room.hosts().stream().map(HostLayout.Host::name).collect(Collectors.joining(",")),
                    units, ties);
        });
        Messages.info(starter + " starts the job's agents: "
                + placed.stream().map(unit -> unit.ranks() + " on " + unit.host()).collect(Collectors.joining(", ")));
        return placed;
    }
}
