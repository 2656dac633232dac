package org.udckpt.image.write;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.block.Chunk;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.manifest.ManifestFile;
import org.udckpt.image.storage.StorageIo;

/**
 * What a job's newest complete checkpoint holds, page by page, so that the next one stores only what differs: 16 bytes for
 * each page of 4096 that is not zero. It lives in memory, with the writer of both; the first checkpoint of a life is a full one.
 * Immutable.
 */
public final class History {
    private final Path parent;
    private final SortedMap<Long, String> macs;
    private final Map<Integer, Map<Integer, ProcessPages>> nodes;

    private History(Path parent, SortedMap<Long, String> macs, Map<Integer, Map<Integer, ProcessPages>> nodes) {
        this.parent = parent;
        this.macs = macs;
        this.nodes = nodes;
    }

    /** @param macs of the checkpoint's bases and its own, by id */
    static History of(Path parent, SortedMap<Long, String> macs, List<NodePart> parts) {
        Map<Integer, Map<Integer, ProcessPages>> nodes = new HashMap<>();
        for (NodePart part : parts) {
            Map<Integer, List<HashedChunk>> byProcess = new HashMap<>();
            for (HashedChunk chunk : part.chunks()) {
                if (chunk.chunk().kind() == Chunk.Kind.DATA) {
                    byProcess.computeIfAbsent(chunk.chunk().process(), _ -> new ArrayList<>()).add(chunk);
                }
            }
            Map<Integer, ProcessPages> pages = new HashMap<>();
            byProcess.forEach((process, chunks) -> pages.put(process, new ProcessPages(chunks)));
            nodes.put(part.node().index(), pages);
        }
        return new History(parent, new TreeMap<>(macs), nodes);
    }

    /** Null when the process was not there. */
    ProcessPages pages(int node, int process) {
        return nodes.getOrDefault(node, Map.of()).get(process);
    }

    /** The manifest's lines about the checkpoints {@code used}. */
    List<Manifest.Base> bases(SortedSet<Long> used) {
        return used.stream().map(id -> new Manifest.Base(id, macs.get(id))).toList();
    }

    /** The newest checkpoint that the next one would be based on. */
    public long newest() {
        return macs.lastKey();
    }

    /**
     * Whether a checkpoint in {@code directory} can be based on it: all that it names is still there, as it was.
     *
     * @throws ImageError naming what is gone or has changed; the next checkpoint must then be a full one
     */
    public void check(Path directory, ImageKey key, StorageIo io) throws IOException {
        if (!directory.toAbsolutePath().normalize().equals(parent)) {
            throw new IllegalArgumentException("a checkpoint in " + directory + " cannot be based on those in " + parent);
        }
        for (Map.Entry<Long, String> base : macs.entrySet()) {
            ManifestFile.base(parent.resolve(ImageNames.directory(newest() + 1)), new Manifest.Base(base.getKey(), base.getValue()), key, io);
        }
    }
}
