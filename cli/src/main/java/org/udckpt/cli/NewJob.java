package org.udckpt.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.udckpt.cluster.NodeJob;
import org.udckpt.cluster.NodesRequest;
import org.udckpt.cluster.Placement;
import org.udckpt.cluster.SpareHosts;
import org.udckpt.cluster.Starter;
import org.udckpt.coordination.tree.Tree;
import org.udckpt.launch.HostLayout;
import org.udckpt.launch.LaunchMode;
import org.udckpt.launch.slurm.SlurmNodes;
import org.udckpt.lifecycle.FastTierRecovery;
import org.udckpt.lifecycle.MultiHostRun;
import org.udckpt.lifecycle.RestartSupervisor;
import org.udckpt.lifecycle.SingleHostRun;
import org.udckpt.lifecycle.job.JobStart;
import org.udckpt.lifecycle.lead.LeadGuard;
import org.udckpt.lifecycle.lead.LostLead;
import org.udckpt.lifecycle.lead.Placer;
import org.udckpt.lifecycle.restart.InspectionOptions;
import org.udckpt.lifecycle.restart.Restart;
import org.udckpt.process.restore.Relocation;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.Tiers;
import org.udckpt.support.config.Installation;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Messages;

/**
 * A job that can be started: all that was said of it is there and makes sense.
 *
 * @param images where its checkpoints go, absolute
 * @param environment the user's
 * @param nodes  empty: it is on this machine alone
 * @param allocated whether that is so since it is in an allocation of Slurm, and the user has said nothing of it
 */
record NewJob(Settings settings, Installation installation, String name, Path images, LaunchMode launch,
        HostLayout layout, List<String> command, Map<String, String> environment,
        Optional<NodesRequest> nodes, boolean allocated) {

    /** Runs it from its beginning; its exit code. */
    int run() throws InterruptedException {
        if (nodes.isPresent()) {
            LeadGuard.enter(settings, installation);
            Optional<ImageLocation> left = LostLead.ofThisProcess().flatMap(lost -> lost.checkpoint(settings, images));
            if (left.isPresent()) {
                return goOn(left.get());
            }
            NodeJob job = new NodeJob(name, 0, launch, Placement.begin(layout, nodes.get().ranksPerUnit()),
                    nodes.get().fanOut(), Path.of("").toAbsolutePath().toString(), command, environment, null);
            return RestartSupervisor.run(settings, images, () -> MultiHostRun.start(settings, installation,
                    nodes.get().starter(), job, images, "kvs_" + name));
        }
        return RestartSupervisor.run(settings, images, () -> new SingleHostRun(settings, installation,
                JobStart.start(settings, installation, name, launch, layout, command, environment)));
    }

    /**
     * A checkpoint of its own, where it can be read: what only its hosts have they copy to slow.
     *
     * @throws Failure where they do not
     */
    ImageLocation whole(ImageLocation image) throws InterruptedException {
        Optional<NodesRequest> request = request(image);
        return request.isEmpty() ? image
                : FastTierRecovery.bring(settings, request.get(), Tiers.of(settings), image, true);
    }

    private Optional<NodesRequest> request(ImageLocation image) {
        return nodes.or(() -> InAllocation.forImage(settings, image)
                .map(_ -> new NodesRequest(new Starter.Srun(), Tree.USUAL_FAN_OUT)));
    }

    /**
     * Runs it from a checkpoint of its own; its exit code. One of several hosts' ranks needs agents, also where all
     * come to one node.
     */
    int goOn(ImageLocation image) throws InterruptedException {
        if (allocated && !InAllocation.isOfAgents(settings, image)) {
            Messages.warn(image.entry().directory() + " is of a job on one host: its ranks continue on this host, "
                    + "and the allocation's other nodes stay unused");
            return alone(image);
        }
        Optional<SlurmNodes> slurm = nodes.isPresent() ? Optional.empty() : InAllocation.forImage(settings, image);
        Optional<NodesRequest> request = request(image);
        HostLayout room = slurm.map(nodes -> SpareHosts.aside(settings, nodes.tasks())).orElse(layout);
        if (request.isEmpty()) {
            return alone(image);
        }
        LeadGuard.enter(settings, installation);
        String starter = allocated || slurm.isPresent() ? "srun" : "--starter";
        Placer usual = (units, ties) -> InAllocation.place(starter, room, units, ties);
        Placer place = LostLead.ofThisProcess().map(lost -> lost.place(settings, usual)).orElse(usual);
        return RestartSupervisor.run(settings, image, Relocation.NONE,
                () -> MultiHostRun.restart(settings, installation, request.get(), image, name, place, Relocation.NONE));
    }

    private int alone(ImageLocation image) throws InterruptedException {
        return RestartSupervisor.run(settings, image, Relocation.NONE,
                () -> new SingleHostRun(settings, installation, Restart.start(settings, installation, image, name, null,
                        Relocation.NONE, InspectionOptions.NONE)));
    }
}
