package org.udckpt.image;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads the memory of one process, every byte checked. For one thread; ask for another where more are to read. */
public final class MemoryReader {
    private final NodeMemory node;
    private final int process;
    private final List<Chunk> chunks;
    private final Map<Long, BlockReader> readers = new HashMap<>();
    /** The block that a read of a part of it needed last; neighbouring reads find it here. */
    private MemorySegment cache;
    private Block cached;

    MemoryReader(NodeMemory node, int process, List<Chunk> chunks) {
        this.node = node;
        this.process = process;
        this.chunks = chunks;
    }

    /** The number that the writer's caller gave it. */
    public int process() {
        return process;
    }

    /** All chunks by address. */
    List<Chunk> chunks() {
        return chunks;
    }

    /** What the image covers, neighbouring chunks joined. */
    public List<Range> ranges() {
        List<Range> ranges = new ArrayList<>();
        for (Chunk chunk : chunks) {
            if (!ranges.isEmpty() && ranges.getLast().end() == chunk.address()) {
                Range last = ranges.removeLast();
                ranges.add(new Range(last.address(), last.length() + chunk.length()));
            } else {
                ranges.add(new Range(chunk.address(), chunk.length()));
            }
        }
        return ranges;
    }

    /**
     * Fills {@code into} with the bytes from {@code address} on; no alignment is needed.
     *
     * @throws IllegalArgumentException when the image does not cover all of them
     * @throws ImageError.Corrupt       when the bytes are not those that were written; {@code into} must then not be used
     */
    public void read(long address, MemorySegment into) throws IOException {
        long done = 0;
        while (done < into.byteSize()) {
            Chunk chunk = at(address + done);
            long skip = address + done - chunk.address();
            long length = Math.min(chunk.length() - skip, into.byteSize() - done);
            MemorySegment part = into.asSlice(done, length);
            switch (chunk.kind()) {
                case ZERO -> part.fill((byte) 0);
                case DATA -> read(chunk, skip, part);
            }
            done += length;
        }
    }

    private void read(Chunk chunk, long skip, MemorySegment part) throws IOException {
        Block block = node.block(chunk);
        if (part.byteSize() == block.length()) {
            node.read(chunk, part, reader(chunk));
            return;
        }
        if (cache == null) {
            cache = Arena.ofAuto().allocate(Block.MAX_LENGTH, Range.PAGE);
        }
        if (cached != block) {
            cached = null;
            node.read(chunk, cache.asSlice(0, block.length()), reader(chunk));
            cached = block;
        }
        part.copyFrom(cache.asSlice(chunk.within() + skip, part.byteSize()));
    }

    private BlockReader reader(Chunk chunk) throws ImageError {
        BlockReader reader = readers.get(chunk.checkpoint());
        if (reader == null) {
            reader = node.reader(chunk.checkpoint());
            readers.put(chunk.checkpoint(), reader);
        }
        return reader;
    }

    private Chunk at(long address) {
        int low = 0;
        int high = chunks.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            Chunk chunk = chunks.get(middle);
            if (address < chunk.address()) {
                high = middle - 1;
            } else if (address >= chunk.end()) {
                low = middle + 1;
            } else {
                return chunk;
            }
        }
        throw new IllegalArgumentException("process " + process + ": the image does not cover address 0x" + Long.toHexString(address));
    }
}
