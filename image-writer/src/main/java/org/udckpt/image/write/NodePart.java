package org.udckpt.image.write;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.udckpt.image.Manifest;
import org.udckpt.image.block.Chunk;
import org.udckpt.image.manifest.PartReport;

/**
 * What one node contributes to a checkpoint: what the manifest has to say about it, and what the next one wants to
 * know.
 */
record NodePart(Manifest.Node node, List<Manifest.FileEntry> files, long bytes, long writeNanos,
        List<HashedChunk> chunks) {
    PartReport report(long checkpoint) {
        return new PartReport(node, files, bytes, writeNanos, List.of(), bases(checkpoint));
    }

    /** With a table about how it was made. @param stops of its ranks, in nanoseconds */
    PartReport report(long checkpoint, Manifest.FileEntry table, List<Long> stops) {
        List<Manifest.FileEntry> all = new ArrayList<>(files);
        all.add(table);
        return new PartReport(node, all, bytes, writeNanos, stops, bases(checkpoint));
    }

    /** The older checkpoints in whose blocks some of the memory is. */
    private SortedSet<Long> bases(long checkpoint) {
        SortedSet<Long> bases = new TreeSet<>();
        long last = checkpoint;
        for (HashedChunk one : chunks) {
            long its = one.chunk().checkpoint();
            if (its != last && its != checkpoint && one.chunk().kind() == Chunk.Kind.DATA) {
                bases.add(its);
                last = its;
            }
        }
        return bases;
    }
}
