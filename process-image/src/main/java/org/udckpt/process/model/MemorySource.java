package org.udckpt.process.model;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.LongStream;

/** Bytes that are to be stored: a process's private memory (offsets are addresses), or a shared object's contents. */
public interface MemorySource {
    /** The pid (as in {@link ProcessState}) or the {@link SharedMemory} id. */
    long id();

    /** True: {@link #id()} is a pid. */
    boolean process();

    /**
     * {start, end} pairs, ascending, page-aligned, of what is present; all else reads as zero or as the mapped file.
     */
    long[] extents();

    /**
     * {@link #extents}, cut where the source's own pieces begin: who reads much reads what is between two cuts at a
     * time. A source that stores pieces hands out whole ones without looking for their neighbours, or copying.
     */
    default long[] pieces() {
        return extents();
    }

    /**
     * Of a process that is captured: what it has in common with one of an earlier source, ascending, within
     * {@link #extents}. It has to be stored once only.
     */
    default List<SharedRange> shared() {
        return List.of();
    }

    /** {@link #extents} without {@link #shared}: what has to be stored. */
    default long[] own() {
        return AddressRanges.without(extents(),
                shared().stream().flatMapToLong(range -> LongStream.of(range.start(), range.end())).toArray());
    }

    /** Of a process that is captured: what need not be read, where a checkpoint is based on another one. */
    default Unwritten unwritten() {
        return Unwritten.NOTHING;
    }

    /**
     * Of a process in an image: where all of {@link #extents} is stored, ascending; empty where the source cannot say
     * it.
     */
    default List<StoredRange> stored() {
        return List.of();
    }

    /**
     * Fills {@code target} with the bytes from {@code offset} on; the whole range must lie in one extent. Any thread.
     */
    void read(long offset, MemorySegment target);
}
