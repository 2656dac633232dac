package org.udckpt.process.restore;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TransferBuffer;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.SharedMemory;
import org.udckpt.process.trace.TracerThread;

/**
 * Copies contents from the image, by several threads: /proc/PID/mem does not care which thread writes, unlike ptrace.
 * A task is a few pieces of the image, so that one large process does not leave the other threads idle.
 */
final class Pages implements AutoCloseable {
    private static final int TASK = 8 << 20;

    private final ExecutorService workers =
            // each waits for the disk half of the time
            Executors.newFixedThreadPool(Math.max(4, Runtime.getRuntime().availableProcessors()),
                    Thread.ofPlatform().daemon().name("udckpt-restore-pages-", 0).factory());
    private final List<CompletableFuture<Void>> running = new ArrayList<>();
    private final List<Integer> files = new ArrayList<>();

    private interface Sink {
        void write(long offset, MemorySegment bytes);
    }

    /** A process's private memory; {@code bias} is added to the source's offsets. */
    void fillMemory(MemorySource source, ProcessMemory memory, long bias, String what) {
        start(source, (offset, bytes) -> memory.write(bias + offset, bytes), what);
    }

    /** A shared object's contents; takes over the descriptor {@code fd} of this process. */
    void fillFile(MemorySource source, int fd, SharedMemory memory) {
        files.add(fd);
        start(source, (offset, bytes) -> writeFile(fd, offset, bytes, memory), memory.path());
    }

    /** Anything else that the threads of the job need before they run. */
    void alongside(Runnable task) {
        running.add(CompletableFuture.runAsync(task, workers));
    }

    private void start(MemorySource source, Sink sink, String what) {
        long[] pieces = source.pieces();
        for (int from = 0, to; from < pieces.length; from = to) {
            long bytes = 0;
            for (to = from; to < pieces.length && bytes < TASK; to += 2) {
                bytes += pieces[to + 1] - pieces[to];
            }
            long[] task = Arrays.copyOfRange(pieces, from, to);
            running.add(CompletableFuture.runAsync(() -> copy(source, task, sink, what), workers));
        }
    }

    private void copy(MemorySource source, long[] pieces, Sink sink, String what) {
        MemorySegment buffer = TransferBuffer.own();
        for (int i = 0; i < pieces.length; i += 2) {
            for (long at = pieces[i]; at < pieces[i + 1]; at += TransferBuffer.BYTES) {
                MemorySegment part = buffer.asSlice(0, Math.min(TransferBuffer.BYTES, pieces[i + 1] - at));
                source.read(at, part);
                try {
                    sink.write(at, part);
                } catch (LinuxError failure) {
                    throw new RestoreException(
                            failure.isNoSpace() ? RestoreException.Reason.NO_SPACE : RestoreException.Reason.FAILED,
                            what + ": " + failure.getMessage(), failure);
                }
            }
        }
    }

    /** A file's last page may go beyond its end: what lies there is cut off. */
    private static void writeFile(int fd, long offset, MemorySegment bytes, SharedMemory memory) {
        long count = Math.min(bytes.byteSize(), memory.size() - offset);
        for (long done = 0; done < count;) {
            long n = Syscall.call(Syscall.PWRITE64, fd, bytes.address() + done, count - done, offset + done);
            done += LinuxError.check(n == 0 ? -LinuxError.ENOSPC : n, "write " + memory.path());
        }
    }

    /** Waits until everything that was started is in place; the first failure comes through. */
    void await() {
        RuntimeException first = null;
        for (CompletableFuture<Void> task : running) {
            try {
                TracerThread.join(task);
            } catch (RuntimeException failure) {
                first = first == null ? failure : first;
            }
        }
        running.clear();
        files.forEach(Files::close);
        files.clear();
        if (first != null) {
            throw first;
        }
    }

    /** Stops copying; nothing is written to any process afterwards. */
    @Override
    public void close() {
        running.forEach(task -> task.cancel(false));
        workers.shutdown();
        try {
            workers.awaitTermination(1, java.util.concurrent.TimeUnit.HOURS);
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
        }
        files.forEach(Files::close);
    }
}
