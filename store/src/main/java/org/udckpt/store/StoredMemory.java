package org.udckpt.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.udckpt.image.block.Chunk;
import org.udckpt.image.read.MemoryReader;
import org.udckpt.image.read.NodeReader;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.StoredRange;

/**
 * Memory as a node of an image holds it, for the restorer; a read that finds a damaged chunk throws
 * UncheckedIOException.
 */
public final class StoredMemory implements MemorySource {
    private final NodeReader node;
    private final MemoryRow row;
    private final long[] extents;
    private final long[] pieces;
    private final ThreadLocal<MemoryReader> readers; // a MemoryReader is for one thread

    private StoredMemory(NodeReader node, MemoryRow row) throws IOException {
        this.node = node;
        this.row = row;
        this.readers = ThreadLocal.withInitial(this::open);
        MemoryReader memory = node.memory(row.number());
        this.extents =
                memory.ranges().stream().flatMapToLong(range -> LongStream.of(range.address(), range.end())).toArray();
        this.pieces =
                memory.chunks().stream().flatMapToLong(chunk -> LongStream.of(chunk.address(), chunk.end())).toArray();
    }

    /** One source for each row. */
    static List<MemorySource> open(NodeReader node, List<MemoryRow> rows) throws IOException {
        List<MemorySource> sources = new ArrayList<>();
        for (MemoryRow row : rows) {
            sources.add(new StoredMemory(node, row));
        }
        return sources;
    }

    /** The block of a chunk, among those of all nodes of a job. */
    private record BlockPlace(int node, long checkpoint, int block) {}

    private MemoryReader open() {
        try {
            return node.memory(row.number());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public long id() {
        return row.id();
    }

    @Override
    public boolean process() {
        return row.process();
    }

    @Override
    public long[] extents() {
        return extents.clone();
    }

    @Override
    public long[] pieces() {
        return pieces.clone();
    }

    @Override
    public List<StoredRange> stored() {
        return open().chunks().stream().map(this::stored).toList();
    }

    private StoredRange stored(Chunk chunk) {
        return switch (chunk.kind()) {
            case ZERO -> StoredRange.zeros(chunk.address(), chunk.end());
            case DATA -> new StoredRange(chunk.address(), chunk.end(),
                    new BlockPlace(node.index(), chunk.checkpoint(), chunk.block()), chunk.within());
        };
    }

    @Override
    public void read(long offset, MemorySegment target) {
        try {
            readers.get().read(offset, target);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
