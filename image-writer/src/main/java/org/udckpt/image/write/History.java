package org.udckpt.image.write;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.manifest.ManifestFile;
import org.udckpt.image.storage.StorageIo;

/**
 * What a job's newest complete checkpoint is, and what it holds of the nodes that this process writes. The pages of
 * others are with those who write them ({@link PartWriter#pages}). Immutable.
 */
public final class History {
    private final Path parent;
    private final SortedMap<Long, String> macs;
    private final Map<Integer, PageHistory> nodes = new HashMap<>();

    /** @param macs of the checkpoint's bases and its own, by id */
    History(Path parent, SortedMap<Long, String> macs, List<NodePart> parts) {
        this.parent = parent;
        this.macs = new TreeMap<>(macs);
        parts.forEach(part -> nodes.put(part.node().index(), new PageHistory(newest(), part)));
    }

    /** Null when the node was not there. */
    public PageHistory node(int index) {
        return nodes.get(index);
    }

    /** Whether a new checkpoint may have memory in the blocks of that one. */
    boolean knows(long checkpoint) {
        return macs.containsKey(checkpoint);
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
            throw new IllegalArgumentException(
                    "a checkpoint in " + directory + " cannot be based on those in " + parent);
        }
        for (Map.Entry<Long, String> base : macs.entrySet()) {
            ManifestFile.base(parent.resolve(ImageNames.directory(newest() + 1)),
                    new Manifest.Base(base.getKey(), base.getValue()), key, io);
        }
    }
}
