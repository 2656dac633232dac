package org.udckpt.image.read;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.image.ImageError;
import org.udckpt.image.Range;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Chunk;
import org.udckpt.image.storage.DeviceMemory;

/** Reads the memory of one process, every byte checked. For one thread; ask for another where more are to read. */
public final class MemoryReader {
    private final NodeMemory node;
    private final int process;
    private final List<Chunk> chunks;
    private final Map<Long, Place> places = new HashMap<>();

    /** Reads the blocks of one checkpoint: changed and unchanged pages take turns, so each keeps its own last block. */
    private static final class Place {
        final BlockReader reader;
        /** The block that a read of a part of it needed last; neighbouring reads find it here. */
        MemorySegment cache;
        Block cached;

        Place(BlockReader reader) {
            this.reader = reader;
        }
    }

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
    public List<Chunk> chunks() {
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
     * @throws ImageError.Corrupt when the bytes are not those that were written; {@code into} must then not be used
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
        Place place = place(chunk);
        if (part.byteSize() == block.length()) {
            node.read(chunk, part, place.reader);
            return;
        }
        if (place.cache == null) {
            place.cache = DeviceMemory.piece();
        }
        if (place.cached != block) {
            place.cached = null;
            node.read(chunk, place.cache.asSlice(0, block.length()), place.reader);
            place.cached = block;
        }
        part.copyFrom(place.cache.asSlice(chunk.within() + skip, part.byteSize()));
    }

    private Place place(Chunk chunk) throws ImageError {
        Place place = places.get(chunk.checkpoint());
        if (place == null) {
            place = new Place(node.reader(chunk.checkpoint()));
            places.put(chunk.checkpoint(), place);
        }
        return place;
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
        throw new IllegalArgumentException(
                "process " + process + ": the image does not cover address 0x" + Long.toHexString(address));
    }
}
