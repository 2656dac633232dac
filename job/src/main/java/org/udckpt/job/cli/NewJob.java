package org.udckpt.job.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.udckpt.job.config.Installation;
import org.udckpt.job.config.Settings;
import org.udckpt.job.launch.HostLayout;
import org.udckpt.job.launch.Launch;
import org.udckpt.job.life.FirstLife;
import org.udckpt.job.life.FromHosts;
import org.udckpt.job.life.LeadGuard;
import org.udckpt.job.life.Lives;
import org.udckpt.job.life.LostLead;
import org.udckpt.job.life.OneNode;
import org.udckpt.job.life.Onlooker;
import org.udckpt.job.life.Placer;
import org.udckpt.job.life.Restart;
import org.udckpt.job.life.SeveralNodes;
import org.udckpt.job.nodes.NodeJob;
import org.udckpt.job.nodes.NodesRequest;
import org.udckpt.job.nodes.Placement;
import org.udckpt.job.nodes.Spares;
import org.udckpt.job.nodes.Starter;
import org.udckpt.job.report.Messages;
import org.udckpt.job.slurm.SlurmNodes;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.job.store.Tiers;
import org.udckpt.job.tree.Tree;
import org.udckpt.process.restore.Relocation;

/**
 * A job that can be started: all that was said of it is there and makes sense.
 *
 * @param images where its checkpoints go, absolute
 * @param environment the user's
 * @param nodes  empty: it is on this machine alone
 * @param allocated whether that is so since it is in an allocation of Slurm, and the user has said nothing of it
 */
record NewJob(Settings settings, Installation installation, String name, Path images, Launch launch, HostLayout layout, List<String> command, Map<String, String> environment,
        Optional<NodesRequest> nodes, boolean allocated) {

    /** Runs it from its beginning; its exit code. */
    int run() throws InterruptedException {
        if (nodes.isPresent()) {
            LeadGuard.enter(settings, installation);
            Optional<ImageLocation> left = LostLead.ofThisProcess().flatMap(lost -> lost.checkpoint(settings, images));
            if (left.isPresent()) {
                return goOn(left.get());
            }
            NodeJob job = new NodeJob(name, 0, launch, Placement.begin(layout, nodes.get().ranksPerUnit()), nodes.get().fanOut(), Path.of("").toAbsolutePath().toString(), command, environment, null);
            return Lives.run(settings, images, () -> SeveralNodes.start(settings, installation, nodes.get().starter(), job, images, "kvs_" + name));
        }
        return Lives.run(settings, images, () -> new OneNode(settings, installation, FirstLife.start(settings, installation, name, launch, layout, command, environment)));
    }

    /** A checkpoint of its own, where it can be read: what only its hosts have they copy to slow. @throws Failure where they do not */
    ImageLocation whole(ImageLocation image) throws InterruptedException {
        Optional<NodesRequest> request = request(image);
        return request.isEmpty() ? image : FromHosts.bring(settings, request.get(), Tiers.of(settings), image, true);
    }

    private Optional<NodesRequest> request(ImageLocation image) {
        return nodes.or(() -> InAllocation.forImage(settings, image).map(_ -> new NodesRequest(new Starter.Srun(), Tree.USUAL_FAN_OUT)));
    }

    /** Runs it from a checkpoint of its own; its exit code. One of several hosts' ranks needs agents, also where all come to one node. */
    int goOn(ImageLocation image) throws InterruptedException {
        if (allocated && !InAllocation.isOfAgents(settings, image)) {
            Messages.warn(image.entry().directory() + " is of ranks that one process had: they go on on this host, and the allocation's other nodes have none of them");
            return alone(image);
        }
        Optional<SlurmNodes> slurm = nodes.isPresent() ? Optional.empty() : InAllocation.forImage(settings, image);
        Optional<NodesRequest> request = request(image);
        HostLayout room = slurm.map(nodes -> Spares.aside(settings, nodes.tasks())).orElse(layout);
        if (request.isEmpty()) {
            return alone(image);
        }
        LeadGuard.enter(settings, installation);
        String starter = allocated || slurm.isPresent() ? "srun" : "--starter";
        Placer usual = (units, ties) -> InAllocation.place(starter, room, units, ties);
        Placer place = LostLead.ofThisProcess().map(lost -> lost.place(settings, usual)).orElse(usual);
        return Lives.run(settings, image, Relocation.NONE, () -> SeveralNodes.restart(settings, installation, request.get(), image, name, place, Relocation.NONE));
    }

    private int alone(ImageLocation image) throws InterruptedException {
        return Lives.run(settings, image, Relocation.NONE,
                () -> new OneNode(settings, installation, Restart.start(settings, installation, image, name, null, Relocation.NONE, Onlooker.NONE)));
    }
}
