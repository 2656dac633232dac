package org.udckpt.inspect.view;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.udckpt.address.Endpoint;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.NodeReader;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.image.write.WrittenPages;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.JobFile;
import org.udckpt.store.CallRow;
import org.udckpt.store.OpenImage;
import org.udckpt.store.OpenNode;
import org.udckpt.store.ProcessChoice;
import org.udckpt.store.StateTables;
import org.udckpt.store.StopTimesRow;

/**
 * The content of a checkpoint, arranged by node and process.
 *
 * @param nodes by index
 * @param phases of the checkpoint, as the whole job went through them
 * @param calls of the coordinator, in order; none where one process was all agents, or the image does not say
 * @param lifeStops how long the ranks stood still in this incarnation of the job; null where the image does not say
 * @param writes all together first, then each stripe
 * @param pages of all nodes; empty where the image does not say
 */
public record CheckpointView(OpenImage image, List<NodeView> nodes, List<PhaseTime> phases, List<CallRow> calls,
        StopTimesRow lifeStops, List<WriteTimes> writes, Optional<WrittenPages> pages) {
    private static final String PAGES = "page-counts";

    public static CheckpointView of(OpenImage image) throws IOException {
        List<NodeView> nodes = new ArrayList<>();
        for (OpenNode node : image.nodes()) {
            nodes.add(NodeView.of(node, image.reader().node(node.index())));
        }
        return new CheckpointView(image, List.copyOf(nodes), image.reader().jobTable(NodeView.PHASES, PhaseTime.class),
                StateTables.readCalls(image.reader()),
                StateTables.readStopTimes(image.reader()).orElse(null), WriteTimes.read(image.reader()),
                pages(image.reader()));
    }

    private static Optional<WrittenPages> pages(CheckpointReader reader) throws IOException {
        List<WrittenPages> all = new ArrayList<>();
        for (NodeReader node : reader.nodes()) {
            all.addAll(node.tableIfThere(PAGES, WrittenPages.class));
        }
        return all.stream().reduce(WrittenPages::with);
    }

    /** Where a rank is. */
    public NodeView nodeOf(int rank) {
        return view(image.nodeOf(rank));
    }

    private NodeView view(OpenNode node) {
        return nodes.stream().filter(view -> view.node() == node).findFirst().orElseThrow();
    }

    public ProcessView view(ProcessChoice.Chosen chosen) {
        return view(chosen.node()).view(chosen.state());
    }

    /** The regions of all nodes. */
    public List<RegionView> regions() {
        return nodes.stream().flatMap(node -> node.regions().stream()).toList();
    }

    /** Number of kernel objects of each kind, of all nodes. */
    public Map<String, Integer> objectKinds() {
        Map<String, Integer> kinds = new TreeMap<>();
        nodes.forEach(node -> node.objects().kinds().forEach((kind, count) -> kinds.merge(kind, count, Integer::sum)));
        return kinds;
    }

    /** The node whose own part of a call took longest; empty: the lead's did. */
    public Optional<OpenNode> slowest(CallRow call) {
        return image.nodes().stream().filter(node -> node.index() == call.slowest()).findFirst();
    }

    /** The files of all nodes, by node. */
    public List<JobFile> files() {
        return image.nodes().stream().flatMap(node -> node.image().files().stream()).toList();
    }

    /** What files are known by of which it has no content, of all nodes. */
    public List<FileIdentity> identities() {
        return image.nodes().stream().flatMap(node -> node.image().identities().stream()).toList();
    }

    /** Paths of the programs and libraries whose content it has, of any node. */
    public Set<String> savedLibraries() {
        return image.nodes().stream().flatMap(node -> node.savedLibraries().stream()).collect(Collectors.toSet());
    }

    public List<Endpoint> endpoints(int rank) {
        return image.endpoints().stream().filter(endpoint -> endpoint.rank() == rank).toList();
    }
}
