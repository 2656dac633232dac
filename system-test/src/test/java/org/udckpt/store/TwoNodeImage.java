package org.udckpt.store;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.address.AddressMap;
import org.udckpt.address.Gid;
import org.udckpt.address.Transport;
import org.udckpt.address.VerbsAddress;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.manifest.PartReport;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.PartOrder;
import org.udckpt.image.write.PartWriter;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.launch.HostLayout;
import org.udckpt.launch.pmi.PmiPhase;
import org.udckpt.launch.pmi.PmiState;

/** Writes checkpoints of a job on the hosts a and b, as their two agents and their lead do. */
record TwoNodeImage(Path parent, ImageKey key) {
    static final String HOSTS = "a:1,b:1";

    /** Each node's state of its own: the directory, the pairs and the addresses tell them apart. */
    static NodeState state(int node) {
        AddressMap addresses = new AddressMap();
        VerbsAddress address = new VerbsAddress(0x100 * (node + 1) + 7, Gid.ZERO, 0x20 + node);
        addresses.register(node, 0, address, address, Transport.UD);
        PmiState pmi = new PmiState("kvs", new TreeMap<>(Map.of("card-" + node, "of " + node)),
                List.of(new PmiState.RankState(node, PmiPhase.INITIALISED, node == 1)));
        return new NodeState("/runtime/of/" + node, pmi, addresses, List.of(0x700000020L + node, 0xffffffffffL));
    }

    /** @return its directory */
    Path write(String hosts, NodeContents... nodes) throws IOException {
        WriterOptions options = WriterOptions.of(key);
        try (CheckpointWriter writer = CheckpointWriter.create(parent, options)) {
            byte[] order = writer.order(nodes.length).encode();
            for (int index = nodes.length - 1; index >= 0; index--) { // whoever is first is first
                try (PartWriter part =
                        PartWriter.open(PartOrder.decode(order), index, index == 0 ? "a" : "b", options, null)) {
                    nodes[index].write(part.node());
                    writer.add(PartReport.decode(part.finish().encode()));
                }
            }
            StateTables.write(writer, new JobState(
                    new JobRow("anatomy", hosts, JobRow.command(List.of("anatomy")), 0, "kvs", "/runtime/of/the/lead"),
                    HostLayout.parse(hosts)));
            writer.statistics(List.of(new PhaseTime(PhaseTime.JOB, Phase.SUSPEND, 1_000_000)));
            StateTables.writeCalls(writer,
                    List.of(new CallRow("suspend", 0, 2_000_000, 1, 1_500_000, new long[]{2_000_000, 1_900_000}),
                            new CallRow("drain", 1, 700_000, CallRow.LEAD, 100_000, new long[]{700_000, 600_000})));
            writer.commit(new CheckpointInfo(nodes.length, Instant.now(), "x86_64",
                    Map.of("job", "anatomy", "launch", "ranks")));
            return writer.directory();
        }
    }
}
