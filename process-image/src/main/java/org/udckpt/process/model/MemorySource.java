package org.udckpt.process.model;

import java.lang.foreign.MemorySegment;

/** Bytes that are to be stored: a process's private memory (offsets are addresses), or a shared object's contents. */
public interface MemorySource {
    /** The pid (as in {@link ProcessState}) or the {@link KernelObject.SharedMemory} id. */
    long id();

    /** True: {@link #id()} is a pid. */
    boolean process();

    /** {start, end} pairs, ascending, page-aligned, of what is present; all else reads as zero or as the mapped file. */
    long[] extents();

    /**
     * {@link #extents}, cut where the source's own pieces begin: who reads much reads what is between two cuts at a time. A source that
     * stores pieces hands out whole ones without looking for their neighbours, or copying.
     */
    default long[] pieces() {
        return extents();
    }

    /** Fills {@code target} with the bytes from {@code offset} on; the whole range must lie in one extent. Any thread. */
    void read(long offset, MemorySegment target);
}
