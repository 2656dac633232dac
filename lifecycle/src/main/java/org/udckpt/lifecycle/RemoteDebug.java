package org.udckpt.lifecycle;

import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.udckpt.cluster.NodeJob;
import org.udckpt.cluster.NodesRequest;
import org.udckpt.cluster.Unit;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.inspect.debug.Selection;
import org.udckpt.lifecycle.lead.Placer;
import org.udckpt.lifecycle.unit.UnitRun;
import org.udckpt.process.restore.Relocation;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.Keys;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Why a job on several hosts is not restarted in a debugger, and how to have one: those of other hosts cannot be kept
 * standing with its processes, and take them for dead.
 */
public final class RemoteDebug {
    private RemoteDebug() {}

    /** The refusal, with the host on which each rank would be; 66 where there is no such rank. */
    public static Failure refusal(Settings settings, NodesRequest nodes, ImageLocation location, String name,
            Placer place, Selection selection) throws IOException {
        try (CheckpointReader reader = location.open(Keys.user(settings))) {
            NodeJob job = MultiHostImage.read(location, reader).next(nodes.fanOut(), name, place, Relocation.NONE);
            List<Unit> wanted =
                    job.units().stream().filter(unit -> selection.ranks().stream().anyMatch(unit::has)).toList();
            selection.ranks().stream().filter(rank -> rank >= job.ranks()).findFirst().ifPresent(rank -> {
                throw new Failure(ExitCode.NOT_FOUND,
                        location.entry().name() + " has no rank " + rank + "; it has " + job.ranks() + ", from 0");
            });
            return new Failure(ExitCode.UNSUPPORTED, "--debug works only for jobs on one host: ranks on other hosts "
                    + "would not stop with those in the debugger."
                    + " Restart the job without --debug, and attach gdb: "
                    + wanted.stream()
                            .map(unit -> unit.ranks() + " will be on host " + unit.host() + ", where 'udckpt status "
                                    + UnitRun.runtime(job, unit)
                                    + "' shows their process ids, for 'gdb -p'")
                            .collect(Collectors.joining("; "))
                    + (selection.ranks().isEmpty() ? "'udckpt status' on each host shows its process ids, for 'gdb -p'"
                            : ""));
        }
    }
}
