package org.udckpt.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.udckpt.bench.measured.Row;

/** Checkpoints and restarts of DMTCP beside those of the same applications by udckpt. */
final class PeerSection {
    private PeerSection() {}

    static ReportSection of(Results results) {
        List<List<String>> table = new ArrayList<>();
        table.add(List.of("workload", "by", "images, MiB", "stands for, s", "written after, s", "runs again after, s"));
        for (Subject subject : results.subjects()) {
            List<Row.Checkpoint> peers = results.peerCheckpoints(subject);
            if (!peers.isEmpty()) {
                table.add(row(subject, "DMTCP", peers, Row.Checkpoint::stopNs, results.peerRestarts(subject)));
                table.add(row(subject, "udckpt", results.wholeCheckpoints(subject), one -> one.stopNs() + one.writeNs(),
                        results.restarts(subject)));
            }
        }
        return ReportSection.table("Beside DMTCP",
                "Median (least..most, number). DMTCP over TCP, without compression; its processes stand until their "
                        + "images are written, "
                        + "for which it waits for no fsync (4.2). udckpt over the soft fabric: the write goes on "
                        + "beside the job, and its end is that of the last fsync; the first checkpoint of each "
                        + "restarted run.",
                table);
    }

    private static List<String> row(Subject subject, String by, List<Row.Checkpoint> checkpoints,
            ToDoubleFunction<Row.Checkpoint> written, List<Row.Restart> restarts) {
        return List.of(subject.title(), by,
                Words.spread(checkpoints.stream().map(one -> (double) one.stored()).toList(), Words::mebibytes),
                Words.spread(checkpoints.stream().map(one -> one.stopNs() / 1e9).toList(), Words::seconds),
                Words.spread(checkpoints.stream().map(one -> written.applyAsDouble(one) / 1e9).toList(),
                        Words::seconds),
                Words.spread(restarts.stream().map(one -> one.ns() / 1e9).toList(), Words::seconds));
    }
}
