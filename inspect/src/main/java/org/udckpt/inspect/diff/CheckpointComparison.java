package org.udckpt.inspect.diff;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.store.Extents;
import org.udckpt.store.JobRow;
import org.udckpt.store.OpenImage;
import org.udckpt.store.OpenNode;

/**
 * Compares two checkpoints, node by node: what is together on one stays so in all incarnations of a job, and has the
 * same number there, on whatever host.
 */
public final class CheckpointComparison {
    private final OpenImage older;
    private final OpenImage newer;

    /** A process that {@code run} has started. */
    private record Root(int node, int pid) {}

    public CheckpointComparison(OpenImage older, OpenImage newer) {
        this.older = older;
        this.newer = newer;
    }

    /** Reads both, every byte checked; {@code progress} is told bytes of both. */
    public ImageDiff run(CheckpointReader.Progress progress) {
        List<NodeDiff> nodes = new ArrayList<>();
        try (MemoryComparison memory = new MemoryComparison(progress, bytes(older) + bytes(newer))) {
            for (int i = 0; i < Math.max(older.nodes().size(), newer.nodes().size()); i++) {
                nodes.add(new NodeComparison(node(older, newer, i), node(newer, older, i)).run(memory));
            }
        }
        boolean beside = older.location().parent().equals(newer.location().parent());
        return new ImageDiff(name(older, beside), older.reader().manifest(), name(newer, beside),
                newer.reader().manifest(), sameJob(), List.copyOf(nodes),
                EndpointComparison.changes(older, newer));
    }

    /** The node; an empty one if only the other image has a node of that index. */
    private static OpenNode node(OpenImage image, OpenImage other, int index) {
        return index < image.nodes().size() ? image.nodes().get(index)
                : OpenNode.nothing(index, other.nodes().get(index).host());
    }

    private static String name(OpenImage image, boolean beside) {
        return beside ? image.name() : image.location().entry().directory().toString();
    }

    private static long bytes(OpenImage image) {
        return image.nodes().stream().flatMap(node -> node.memories().values().stream())
                .mapToLong(source -> new Extents(source).bytes()).sum();
    }

    /** Processes keep their pids over all incarnations of a job. */
    private boolean sameJob() {
        JobRow one = older.job().row();
        JobRow other = newer.job().row();
        return one.name().equals(other.name()) && one.words().equals(other.words())
                && roots(older).equals(roots(newer));
    }

    private static Set<Root> roots(OpenImage image) {
        Set<Root> roots = new HashSet<>();
        image.nodes().forEach(node -> node.image().processes().stream().filter(process -> process.parentPid() == 0)
                .forEach(process -> roots.add(new Root(node.index(), process.pid()))));
        return roots;
    }
}
