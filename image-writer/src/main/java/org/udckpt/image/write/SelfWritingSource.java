package org.udckpt.image.write;

import java.io.IOException;
import java.util.BitSet;
import java.util.List;

/**
 * A source that can write its bytes to files by itself, where they are stored as they are: they then pass neither this
 * process nor its buffers. It has one or more writers, each for one thread at a time.
 */
public interface SelfWritingSource extends PageSource {
    /**
     * Called once, before anything else.
     *
     * @param files descriptors of stripe files, each to be opened once more ({@link org.udckpt.linux.Files#reopen}): by
     *     their names they may be others by now
     * @param direct they must be written past the page cache
     * @param background the writing is to take only what nobody else wants
     * @param writers how many it is to have
     * @return whether it can; if not, it is read
     */
    boolean ready(List<Integer> files, boolean direct, boolean background, int writers);

    /**
     * Finds the pages that hold only zeros.
     *
     * @param writer from 0 on
     * @param runs   {address, length} pairs, multiples of 4096, at most 256 pages in all
     * @param count  of numbers in {@code runs}
     * @param zeros  is filled: bit n is page n, counted through all runs
     * @param hashes is filled with XXH3 (128 bits, no seed) of each page, the high number first; null: nobody asks
     */
    void look(int writer, long[] runs, int count, BitSet zeros, long[] hashes) throws IOException;

    /**
     * Appends the bytes of the runs, one after the other; parameters as in {@link #look}.
     *
     * @return XXH3 (64 bits, no seed) of the bytes; 0 where a tag is asked for; nothing of use where nothing was
     *     appended
     * @throws IOException with the system's text for what went wrong
     */
    long append(int writer, long[] runs, int count, AppendOrder order) throws IOException;
}
