package org.udckpt.process.files;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.MemorySource;

/** A file's content in an image: is it what a file holds, or write it to one. */
final class SavedContent {
    private static final int BUFFER = 1 << 20, PAGE = 4096;
    private static final ThreadLocal<MemorySegment> BUFFERS =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(2 * BUFFER, PAGE));

    private final MemorySource source;
    private final long size;
    private final String path;

    /** @param source null: all of it is zero */
    SavedContent(MemorySource source, long size, String path) {
        this.source = source;
        this.size = size;
        this.path = path;
    }

    /** Whether an open file of the same size holds it. */
    boolean isIn(int file) {
        MemorySegment saved = BUFFERS.get().asSlice(0, BUFFER);
        MemorySegment found = BUFFERS.get().asSlice(BUFFER, BUFFER);
        for (long at = 0; at < size; at += BUFFER) {
            long count = Math.min(BUFFER, size - at);
            read(at, saved);
            for (long done = 0; done < count;) {
                long n = LinuxError.check(
                        Syscall.call(Syscall.PREAD64, file, found.address() + done, count - done, at + done),
                        "read of " + path);
                if (n == 0) {
                    return false; // somebody cuts it
                }
                done += n;
            }
            if (saved.asSlice(0, count).mismatch(found.asSlice(0, count)) >= 0) {
                return false;
            }
        }
        return true;
    }

    /** Fills {@code target}: what is in no extent is zero. */
    private void read(long offset, MemorySegment target) {
        target.fill((byte) 0);
        if (source == null) {
            return;
        }
        long[] extents = source.extents();
        for (int i = 0; i < extents.length; i += 2) {
            long from = Math.max(extents[i], offset);
            long to = Math.min(extents[i + 1], offset + target.byteSize());
            if (from < to) {
                source.read(from, target.asSlice(from - offset, to - from));
            }
        }
    }

    /** Writes all to a file that is empty, by several threads. Zeros become holes. */
    void writeTo(int file, ExecutorService workers) {
        LinuxError.check(Syscall.call(Syscall.FTRUNCATE, file, size), "set the size of " + path);
        List<Callable<Void>> tasks = new ArrayList<>();
        long[] pieces = source == null ? new long[0] : source.pieces();
        for (int i = 0; i < pieces.length; i += 2) {
            for (long at = pieces[i]; at < pieces[i + 1]; at += BUFFER) {
                long from = at;
                long count = Math.min(BUFFER, pieces[i + 1] - at);
                tasks.add(() -> {
                    copy(file, from, count);
                    return null;
                });
            }
        }
        try {
            for (Future<Void> task : workers.invokeAll(tasks)) {
                task.get();
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FilesChanged("interrupted while " + path + " was being restored");
        }
    }

    private void copy(int file, long offset, long count) {
        MemorySegment buffer = BUFFERS.get().asSlice(0, count);
        source.read(offset, buffer);
        long end = Math.min(count, size - offset); // the last page goes beyond the end
        for (long at = 0; at < end; at += PAGE) {
            long from = at;
            while (at < end && !isZero(buffer, at)) {
                at += PAGE;
            }
            for (long done = from, to = Math.min(at, end); done < to;) {
                long n = Syscall.call(Syscall.PWRITE64, file, buffer.address() + done, to - done, offset + done);
                done += LinuxError.check(n == 0 ? -LinuxError.ENOSPC : n, "write of what " + path + " was");
            }
        }
    }

    private static boolean isZero(MemorySegment buffer, long at) {
        MemorySegment page = buffer.asSlice(at, Math.min(PAGE, buffer.byteSize() - at));
        return page.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0) == 0
                && page.asSlice(1).mismatch(page.asSlice(0, page.byteSize() - 1)) < 0;
    }
}
