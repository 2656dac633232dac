package org.udckpt.job.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.udckpt.job.config.Installation;
import org.udckpt.job.config.Settings;
import org.udckpt.job.launch.HostLayout;
import org.udckpt.job.launch.Launch;
import org.udckpt.job.life.FirstLife;
import org.udckpt.job.life.Lives;
import org.udckpt.job.life.OneNode;
import org.udckpt.job.life.SeveralNodes;
import org.udckpt.job.nodes.NodeJob;
import org.udckpt.job.nodes.NodesRequest;
import org.udckpt.job.nodes.Unit;

/**
 * A job that can be started: all that was said of it is there and makes sense.
 *
 * @param images where its checkpoints go, absolute
 * @param environment the user's
 * @param nodes  empty: it is on this machine alone
 */
record NewJob(Settings settings, Installation installation, String name, Path images, Launch launch, HostLayout layout, List<String> command, Map<String, String> environment,
        Optional<NodesRequest> nodes) {

    /** Runs it from its beginning; its exit code. */
    int run() throws InterruptedException {
        if (nodes.isPresent()) {
            NodeJob job = new NodeJob(name, 0, launch, units(), nodes.get().fanOut(), Path.of("").toAbsolutePath().toString(), command, environment, null);
            return Lives.run(settings, images, () -> SeveralNodes.start(settings, installation, nodes.get().starter(), job, images, "kvs_" + name));
        }
        return Lives.run(settings, images, () -> new OneNode(settings, installation, FirstLife.start(settings, installation, name, launch, layout, command, environment)));
    }

    private List<Unit> units() {
        List<Unit> units = new ArrayList<>();
        int first = 0;
        for (HostLayout.Host host : layout.hosts()) {
            units.add(new Unit(host.name(), host.name(), first, host.ranks()));
            first += host.ranks();
        }
        return units;
    }
}
