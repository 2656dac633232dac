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
import org.udckpt.job.life.Lives;
import org.udckpt.job.nodes.NodesRequest;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;

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
            throw new Failure(ExitCode.UNSUPPORTED, "ranks on several hosts are not possible yet");
        }
        return Lives.run(settings, installation, images, () -> FirstLife.start(settings, installation, name, launch, layout, command, environment));
    }
}
