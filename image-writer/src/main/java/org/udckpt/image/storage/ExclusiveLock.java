package org.udckpt.image.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.udckpt.image.ImageError;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LockFile;

/** The lock of a directory, waited for, but not for ever. */
final class ExclusiveLock {
    /** Work under the lock takes seconds; a process that holds it for longer hangs. */
    static final long MOST_SECONDS = 60;
    private static final long SHORTEST_PAUSE_MS = 1, LONGEST_PAUSE_MS = 100;
    /**
     * The lock of a file belongs to the process (fcntl(2)): between threads these decide. One for each, since a file
     * system that does not answer must not hold up another one.
     */
    private static final Map<Key, ReentrantLock> THREADS = new ConcurrentHashMap<>();

    /** A name in a directory, which may have several paths. */
    private record Key(long device, long inode, String name) {}

    private final Path path;
    private final long seconds;
    private final long end;

    private ExclusiveLock(Path path, long seconds) {
        this.path = path;
        this.seconds = seconds;
        this.end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    }

    /**
     * @param path of the file, for messages
     * @throws ImageError.Busy after so many seconds, or when the thread is interrupted
     */
    static Closeable take(Path path, Folder folder, String name, long seconds) throws ImageError {
        return new ExclusiveLock(path, seconds).take(folder, name);
    }

    private Closeable take(Folder folder, String name) throws ImageError {
        Files.Stat stat = folder.stat();
        ReentrantLock threads =
                THREADS.computeIfAbsent(new Key(stat.device(), stat.inode(), name), _ -> new ReentrantLock());
        // before the file is opened: to close one descriptor of it would release the lock that another thread has by
        // another one
        await(threads);
        LockFile file = null;
        try {
            file = LockFile.open(folder, name);
            await(file);
            LockFile held = file;
            file = null;
            return () -> release(held, threads);
        } catch (ImageError | RuntimeException | Error e) {
            if (file != null) {
                file.close();
            }
            threads.unlock();
            throw e;
        }
    }

    private static void release(LockFile file, ReentrantLock threads) {
        try {
            file.close();
        } finally {
            threads.unlock();
        }
    }

    private void await(ReentrantLock threads) throws ImageError {
        try {
            if (!threads.tryLock(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                throw busy("another thread of this process");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw busy("another thread of this process");
        }
    }

    private void await(LockFile file) throws ImageError {
        for (long pause = SHORTEST_PAUSE_MS; !file.tryLock(); pause = Math.min(LONGEST_PAUSE_MS, 2 * pause)) {
            if (System.nanoTime() > end || Thread.currentThread().isInterrupted()) {
                throw busy(file.holder());
            }
            try {
                Thread.sleep(pause);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private ImageError.Busy busy(String holder) {
        return new ImageError.Busy(path, "is locked by " + holder + ", which did not release it within " + seconds
                + " s: end that process, and try again");
    }
}
