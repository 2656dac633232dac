package org.udckpt.job.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.udckpt.image.Range;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.MemoryReader;
import org.udckpt.process.model.MemorySource;

/** Memory as an image holds it, for the restorer; a read that finds a damaged chunk throws UncheckedIOException. */
public final class StoredMemory implements MemorySource {
    static final int NODE = 0;

    private final CheckpointReader reader;
    private final MemoryRow row;
    private final long[] extents;
    private final ThreadLocal<MemoryReader> readers; // a MemoryReader is for one thread

    private StoredMemory(CheckpointReader reader, MemoryRow row) throws IOException {
        this.reader = reader;
        this.row = row;
        this.readers = ThreadLocal.withInitial(this::open);
        List<Range> ranges = reader.memory(NODE, row.number()).ranges();
        this.extents = new long[2 * ranges.size()];
        for (int i = 0; i < ranges.size(); i++) {
            extents[2 * i] = ranges.get(i).address();
            extents[2 * i + 1] = ranges.get(i).end();
        }
    }

    /** One source for each row. */
    static List<MemorySource> open(CheckpointReader reader, List<MemoryRow> rows) throws IOException {
        List<MemorySource> sources = new java.util.ArrayList<>();
        for (MemoryRow row : rows) {
            sources.add(new StoredMemory(reader, row));
        }
        return sources;
    }

    private MemoryReader open() {
        try {
            return reader.memory(NODE, row.number());
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
    public void read(long offset, MemorySegment target) {
        try {
            readers.get().read(offset, target);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
