package org.udckpt.process.files;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/**
 * The beginning and the end of a file that grows, copied during the stop: there formats keep their counts (NetCDF,
 * HDF5), and there the writer is.
 */
final class FrozenEnds implements AutoCloseable {
    /** Bytes of the beginning. */
    static final int HEAD = 1 << 20;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment head;
    private final MemorySegment tail;
    private final long tailStart;

    /** @param tailStart at least {@link #HEAD} */
    FrozenEnds(int fd, String path, long tailStart, long size) {
        this.tailStart = tailStart;
        head = arena.allocate(HEAD);
        tail = arena.allocate(size - tailStart);
        fill(fd, path, head, 0);
        fill(fd, path, tail, tailStart);
    }

    private static void fill(int fd, String path, MemorySegment into, long offset) {
        for (long done = 0; done < into.byteSize();) {
            long n = LinuxError.check(
                    Syscall.call(Syscall.PREAD64, fd, into.address() + done, into.byteSize() - done, offset + done),
                    "read of " + path);
            if (n == 0) {
                return; // nothing writes now: it ends in a hole of the file system's
            }
            done += n;
        }
    }

    long tailStart() {
        return tailStart;
    }

    /** Puts what is known over {@code target}, which holds the file from {@code offset} on. */
    void overlay(long offset, MemorySegment target) {
        overlay(head, 0, offset, target);
        overlay(tail, tailStart, offset, target);
    }

    private static void overlay(MemorySegment part, long partStart, long offset, MemorySegment target) {
        long from = Math.max(partStart, offset);
        long to = Math.min(partStart + part.byteSize(), offset + target.byteSize());
        if (from < to) {
            MemorySegment.copy(part, from - partStart, target, from - offset, to - from);
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
