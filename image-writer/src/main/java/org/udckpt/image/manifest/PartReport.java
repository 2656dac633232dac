package org.udckpt.image.manifest;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;

/**
 * What one node contributes to a checkpoint, as its manifest has it. It is made when all of the part is durable, and
 * travels from the node to whoever writes the manifest, as lines like the manifest's own.
 *
 * @param files all begin with the node's name
 * @param bytes of memory
 * @param writeNanos from the first page read to the last stripe file synced
 * @param stops how long each of its ranks stood still, in nanoseconds; none: not measured
 * @param bases the older checkpoints in whose blocks some of the memory is
 */
public record PartReport(Manifest.Node node, List<Manifest.FileEntry> files, long bytes, long writeNanos,
        List<Long> stops, SortedSet<Long> bases) {
    /** Some hundred files; a longer report is refused unread. */
    public static final int MAX_BYTES = 64 << 10;
    static final String MAGIC = "udckpt-part ";

    public PartReport {
        files = List.copyOf(files);
        stops = List.copyOf(stops);
        bases = java.util.Collections.unmodifiableSortedSet(new TreeSet<>(bases));
    }

    public byte[] encode() {
        return ManifestText.part(this).getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * @throws ImageError.Corrupt if no node of this version sends such a report, or it names files that are not its own
     */
    public static PartReport decode(byte[] bytes) throws ImageError {
        PartReport report = ManifestParser.part(bytes);
        String own = ImageNames.node(report.node.index());
        for (Manifest.FileEntry file : report.files) {
            if (!file.name().startsWith(own) || file.cover() != null && !file.cover().startsWith(own)) {
                throw new ImageError.Corrupt(ManifestParser.REPORT, -1, "node " + report.node.index() + " ("
                        + report.node.host() + ") names " + file.name() + ", a file of another node");
            }
        }
        return report;
    }
}
