package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.MADV_DONTNEED;
import static org.udckpt.linux.LinuxConstants.SEEK_DATA;
import static org.udckpt.linux.LinuxConstants.SEEK_HOLE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MappedMemory;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.MemorySource;

/**
 * Contents that were copied during the stop, because a fork does not freeze them: shared memory, files. A failed
 * checkpoint closes it while others still read from it: their reading fails then.
 */
final class ContentCopy implements MemorySource, AutoCloseable {
    private static final int PAGE = 4096;

    private final long id;
    private final boolean process;
    private final Arena arena = Arena.ofShared();
    private long[] extents = new long[0];
    private MemorySegment[] copies = new MemorySegment[0];

    /** @param process {@code id} is a pid and offsets are addresses */
    ContentCopy(long id, boolean process) {
        this.id = id;
        this.process = process;
    }

    /** Copies the parts of a file of {@code size} bytes that are not holes. */
    void file(int fd, long size) {
        for (long at = 0; at < size;) {
            long data = Syscall.call(Syscall.LSEEK, fd, at, SEEK_DATA);
            if (data == -6 /* ENXIO: only a hole is left */) {
                return;
            }
            boolean whole = data == -LinuxError.EINVAL; // a file system without holes
            long hole = whole ? size : LinuxError
                    .check(Syscall.call(Syscall.LSEEK, fd, LinuxError.check(data, "lseek"), SEEK_HOLE), "lseek");
            long start = whole ? 0 : data & -PAGE;
            long end = Math.min(hole, size);
            if (end <= start) {
                return;
            }
            MemorySegment copy = allocate(start, (end + PAGE - 1) & -PAGE);
            readFile(fd, start, copy.asSlice(0, end - start));
            at = hole;
        }
    }

    /** Copies a range of a process's memory to {@code offset} on. */
    void memory(ProcessMemory memory, long address, long offset, long size) {
        memory.read(address, allocate(offset, offset + size));
    }

    /** Forgets the copies within [start, end), which nobody reads yet. */
    void remove(long start, long end) {
        int left = 0;
        for (int i = 0; i < copies.length; i++) {
            if (Long.compareUnsigned(extents[2 * i], start) >= 0
                    && Long.compareUnsigned(extents[2 * i + 1], end) <= 0) {
                Syscall.call(Syscall.MADVISE, copies[i].address(), copies[i].byteSize(), MADV_DONTNEED);
            } else {
                extents[2 * left] = extents[2 * i];
                extents[2 * left + 1] = extents[2 * i + 1];
                copies[left++] = copies[i];
            }
        }
        extents = Arrays.copyOf(extents, 2 * left);
        copies = Arrays.copyOf(copies, left);
    }

    boolean empty() {
        return extents.length == 0;
    }

    private static void readFile(int fd, long offset, MemorySegment target) {
        for (long done = 0; done < target.byteSize();) {
            long n = LinuxError.check(
                    Syscall.call(Syscall.PREAD64, fd, target.address() + done, target.byteSize() - done, offset + done),
                    "read of a job's file");
            if (n == 0) {
                return; // it shrank: the rest is zero
            }
            done += n;
        }
    }

    private MemorySegment allocate(long start, long end) {
        MemorySegment copy =
                MappedMemory.anonymous(arena, end - start, "memory for a copy of " + (end - start) + " bytes");
        int n = copies.length;
        extents = Arrays.copyOf(extents, 2 * n + 2);
        extents[2 * n] = start;
        extents[2 * n + 1] = end;
        copies = Arrays.copyOf(copies, n + 1);
        copies[n] = copy;
        return copy;
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public boolean process() {
        return process;
    }

    @Override
    public long[] extents() {
        return extents.clone();
    }

    /**
     * True when the whole range is in one of the copies, and then {@code target} is filled.
     *
     * @throws IllegalStateException when this was closed, before or meanwhile
     */
    boolean tryRead(long offset, MemorySegment target) {
        for (int i = 0; i < copies.length; i++) {
            if (offset >= extents[2 * i] && offset + target.byteSize() <= extents[2 * i + 1]) {
                MemorySegment.copy(copies[i], offset - extents[2 * i], target, 0, target.byteSize());
                return true;
            }
        }
        return false;
    }

    @Override
    public void read(long offset, MemorySegment target) {
        if (!tryRead(offset, target)) {
            throw new IndexOutOfBoundsException(
                    "object %d: %d bytes at 0x%x are in no extent".formatted(id, target.byteSize(), offset));
        }
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
