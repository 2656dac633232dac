package org.udckpt.job.life;

import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.job.config.Settings;
import org.udckpt.job.debug.Selection;
import org.udckpt.job.nodes.NodeJob;
import org.udckpt.job.nodes.NodesRequest;
import org.udckpt.job.nodes.Unit;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.job.store.Keys;
import org.udckpt.process.restore.Relocation;

/**
 * Why a job on several hosts is not restarted in a debugger, and how to have one: those of other hosts cannot be kept standing with its processes, and take
 * them for dead.
 */
public final class RemoteDebug {
    private RemoteDebug() {}

    /** The refusal, with the host on which each rank would be; 66 where there is no such rank. */
    public static Failure refusal(Settings settings, NodesRequest nodes, ImageLocation location, String name, Placer place, Selection selection) throws IOException {
        try (CheckpointReader reader = location.open(Keys.user(settings))) {
            NodeJob job = SeveralImage.read(location, reader).next(nodes.fanOut(), name, place, Relocation.NONE);
            List<Unit> wanted = job.units().stream().filter(unit -> selection.ranks().stream().anyMatch(unit::has)).toList();
            selection.ranks().stream().filter(rank -> rank >= job.ranks()).findFirst().ifPresent(rank -> {
                throw new Failure(ExitCode.NOT_FOUND, location.entry().name() + " has no rank " + rank + "; it has " + job.ranks() + ", from 0");
            });
            return new Failure(ExitCode.UNSUPPORTED, "--debug is for jobs on one host: ranks on others would not stand still with those in the debugger."
                    + " Restart it without --debug, and attach: "
                    + wanted.stream().map(unit -> unit.ranks() + " will be on host " + unit.host() + ", where 'udckpt status " + UnitLife.runtime(job, unit)
                            + "' shows their process ids, for 'gdb -p'").collect(Collectors.joining("; "))
                    + (selection.ranks().isEmpty() ? "each host's 'udckpt status' shows the process ids that are there, for 'gdb -p'" : ""));
        }
    }
}
