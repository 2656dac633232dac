package org.udckpt.process.files;

import static org.udckpt.linux.LinuxConstants.SEEK_DATA;
import static org.udckpt.linux.LinuxConstants.SEEK_HOLE;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.MemorySource;

/**
 * The first {@code size} bytes of an open file: the job's own, a clone or a copy of it. What lies behind them reads as
 * zero.
 */
public final class FileContents implements MemorySource, AutoCloseable {
    private static final int PAGE = 4096;

    private final long id;
    private final String path;
    private final int fd;
    private final long size;
    private final long[] extents;
    private FrozenEnds ends;

    /** Takes over {@code fd}; looks for holes. */
    public FileContents(long id, String path, int fd, long size) {
        this.id = id;
        this.path = path;
        this.fd = fd;
        this.size = size;
        this.extents = extents(fd, size, path);
    }

    /** What lies in these is read from there, not from the file. */
    void freeze(FrozenEnds frozen) {
        ends = frozen;
    }

    public int descriptor() {
        return fd;
    }

    /** Bytes that are not in holes, to the page. */
    long bytes() {
        long sum = 0;
        for (int i = 0; i < extents.length; i += 2) {
            sum += extents[i + 1] - extents[i];
        }
        return sum;
    }

    /** Whether it is all holes. */
    public boolean isEmpty() {
        return extents.length == 0;
    }

    /** {start, end} pairs of what is no hole, to the page. */
    static long[] extents(int fd, long size, String path) {
        long[] found = new long[8];
        int n = 0;
        for (long at = 0; at < size;) {
            long data = Syscall.call(Syscall.LSEEK, fd, at, SEEK_DATA);
            if (data == -LinuxError.ENXIO) {
                break; // only a hole is left
            }
            boolean whole = data == -LinuxError.EINVAL; // a file system that knows no holes
            long hole = whole ? size
                    : LinuxError.check(
                            Syscall.call(Syscall.LSEEK, fd, LinuxError.check(data, "lseek in " + path), SEEK_HOLE),
                            "lseek in " + path);
            long start = whole ? at & -PAGE : data & -PAGE;
            long end = Math.min(hole, size) + PAGE - 1 & -PAGE;
            if (start >= size) {
                break;
            }
            if (n > 0 && start <= found[n - 1]) {
                found[n - 1] = Math.max(found[n - 1], end);
            } else {
                found = n == found.length ? Arrays.copyOf(found, 2 * n) : found;
                found[n++] = start;
                found[n++] = end;
            }
            at = hole;
        }
        return Arrays.copyOf(found, n);
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public boolean process() {
        return false;
    }

    @Override
    public long[] extents() {
        return extents.clone();
    }

    @Override
    public void read(long offset, MemorySegment target) {
        long count = Math.min(target.byteSize(), size - offset);
        long done = 0;
        while (done < count) {
            long n = LinuxError.check(
                    Syscall.call(Syscall.PREAD64, fd, target.address() + done, count - done, offset + done),
                    "read of " + path);
            if (n == 0) {
                break; // it was cut: that is found out when all has been read
            }
            done += n;
        }
        target.asSlice(done).fill((byte) 0);
        if (ends != null) {
            ends.overlay(offset, target.asSlice(0, count));
        }
    }

    @Override
    public void close() {
        Files.close(fd);
    }
}
