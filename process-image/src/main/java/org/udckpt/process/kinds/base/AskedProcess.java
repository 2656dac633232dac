package org.udckpt.process.kinds.base;

import java.util.List;

/** A process of the job that stands still and can be asked for what only itself can know ({@link KindCapture#ask}). */
public interface AskedProcess extends StoppedProcess {
    /** A call in its main thread: the result, or {@code -errno}. Only in the caller of {@link KindCapture#ask}. */
    long tryCall(long number, long... arguments);

    /** Address of {@link #resultBytes} bytes for what a {@link #tryCall} writes. */
    long results();

    /** How much room a call's results have. */
    int resultBytes();

    /** What is in its memory. */
    byte[] read(long address, int bytes);

    /**
     * Address of data of the preloaded library, written to or not; 0: the process does not have the library.
     *
     * @param symbol exported by the library
     */
    long libraryData(String symbol, int bytes);

    /**
     * Memory of a kernel object that it has mapped.
     *
     * @param file device and inode as in /proc/PID/maps, with a colon between them
     */
    record MappedRange(long start, long end, String file) {}

    /** What it has mapped that /proc/PID/maps calls so. */
    List<MappedRange> mapped(String path);

    /** How many of its threads have come out of one of these system calls with an error, or are to make it again. */
    int failedCalls(long... numbers);
}
