package org.udckpt.process.model;

import java.util.BitSet;
import java.util.List;

/**
 * A source that can write its bytes to files by itself, with one or more writers, so that they need not be copied to
 * the agent. Each writer is for one thread at a time.
 */
public interface SelfWriting extends MemorySource {
    /**
     * Gives it the files that it will be told to append to.
     *
     * @param files descriptors of files, which are opened once more by them: by their names they may be others by now
     * @param direct open them with O_DIRECT
     * @param background it is to take only what nobody else wants
     * @param writers how many there are to be
     * @return null, or why it cannot: then {@link #read} is the way
     */
    String ready(List<Integer> files, boolean direct, boolean background, int writers);

    /**
     * Finds the pages that hold only zeros.
     *
     * @param writer from 0 on
     * @param runs  {address, length} pairs, in multiples of 4096, in extents, at most 256 pages in all
     * @param count of numbers in {@code runs}
     * @param zeros is filled: bit n is page n, counted through all runs
     * @param hashes is filled with XXH3 (128 bits) of each page, the high number first; null: nobody asks
     */
    void look(int writer, long[] runs, int count, BitSet zeros, long[] hashes);

    /**
     * Appends the runs' bytes, one after the other; parameters as in {@link #look}.
     *
     * @return XXH3 (64 bits) of the bytes; 0 where a tag is asked for; nothing of use where nothing was appended
     * @throws org.udckpt.linux.LinuxError what the file system said
     */
    long append(int writer, long[] runs, int count, SelfWriteOrder order);
}
