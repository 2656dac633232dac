package org.udckpt.image.write;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Where the bytes of a process come from. Called from one thread at a time per process, not always the same one. */
@FunctionalInterface
public interface PageSource {
    /**
     * Fills all of {@code into} with the bytes at {@code address}, or fails.
     *
     * @param address a multiple of 4096
     * @param into    at most 1 MiB, a multiple of 4096, native memory aligned to 4096 bytes
     * @return {@code into.byteSize()}; anything else is taken for a failure
     * @throws IOException naming what could not be read
     */
    long read(long address, MemorySegment into) throws IOException;
}
