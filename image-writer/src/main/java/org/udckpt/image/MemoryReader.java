package org.udckpt.image;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Reads the memory of one process, every byte checked. For one thread; ask for another where more are to read. */
public final class MemoryReader {
    private final NodeMemory node;
    private final int process;
    private final List<Chunk> chunks;
    private final Checksum checksum;
    /** The chunk that a read of a part of it needed last; neighbouring reads find it here. */
    private MemorySegment cache;
    private Chunk cached;

    MemoryReader(NodeMemory node, int process, List<Chunk> chunks, Checksum checksum) {
        this.node = node;
        this.process = process;
        this.chunks = chunks;
        this.checksum = checksum;
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
     * Fills {@code into} with one of {@link #chunks()}; zeros for {@link Chunk.Kind#ZERO}.
     *
     * @param into as long as the chunk
     * @throws ImageError.Corrupt when the bytes are not those that were written; {@code into} must then not be used
     */
    public void read(Chunk chunk, MemorySegment into) throws IOException {
        if (into.byteSize() != chunk.length()) {
            throw new IllegalArgumentException(into.byteSize() + " bytes for a chunk of " + chunk.length());
        }
        node.read(chunk, into, checksum);
    }

    /**
     * Fills {@code into} with the bytes from {@code address} on; no alignment is needed.
     *
     * @throws IllegalArgumentException when the image does not cover all of them
     * @throws ImageError.Corrupt       as {@link #read(Chunk, MemorySegment)}
     */
    public void read(long address, MemorySegment into) throws IOException {
        long done = 0;
        while (done < into.byteSize()) {
            Chunk chunk = at(address + done);
            long skip = address + done - chunk.address();
            long length = Math.min(chunk.length() - skip, into.byteSize() - done);
            MemorySegment part = into.asSlice(done, length);
            if (chunk.kind() == Chunk.Kind.ZERO || length == chunk.length()) {
                node.read(chunk, part, checksum);
            } else {
                part.copyFrom(cached(chunk).asSlice(skip, length));
            }
            done += length;
        }
    }

    private MemorySegment cached(Chunk chunk) throws IOException {
        if (cache == null) {
            cache = Arena.ofAuto().allocate(Chunk.MAX_LENGTH, Range.PAGE);
        }
        if (cached != chunk) {
            cached = null;
            node.read(chunk, cache.asSlice(0, chunk.length()), checksum);
            cached = chunk;
        }
        return cache;
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
