package org.udckpt.image.storage;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.udckpt.image.ImageError;
import org.udckpt.image.Range;

/** Images in a POSIX file system. */
public final class LocalStorage implements StorageIo {
    /** The only instance: there is no state. */
    public static final LocalStorage INSTANCE = new LocalStorage();

    private static final FileAttribute<Set<PosixFilePermission>> DIRECTORY_MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final FileAttribute<Set<PosixFilePermission>> FILE_MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    /**
     * POSIX record locks belong to the process (fcntl(2)): between threads these decide. One for each file, since a file system that
     * does not answer must not hold up another one.
     */
    private static final Map<Path, ReentrantLock> THREADS = new ConcurrentHashMap<>();

    private LocalStorage() { }

    @Override
    public void createDirectory(Path directory) throws IOException {
        try {
            Files.createDirectory(directory, DIRECTORY_MODE);
        } catch (IOException e) {
            throw Errno.named(directory, -1, e);
        }
    }

    @Override
    public Output create(Path file, boolean direct) throws IOException {
        FileChannel plain;
        try {
            plain = FileChannel.open(file, Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW), FILE_MODE);
        } catch (IOException e) {
            throw Errno.named(file, 0, e);
        }
        FileChannel past;
        try {
            past = direct ? openDirect(file, StandardOpenOption.WRITE) : null;
        } catch (IOException e) {
            plain.close();
            throw Errno.named(file, 0, e);
        }
        if (past == null) {
            return new LocalOutput(file, plain, false, TmpfsPages.small(file));
        }
        plain.close();
        return new LocalOutput(file, past, true, false);
    }

    /**
     * Null where the file system does not take O_DIRECT (EINVAL, open(2)), wants more than 4096-byte alignment, or is nothing but
     * page cache (tmpfs, which takes it since Linux 6.6).
     */
    static FileChannel openDirect(Path file, StandardOpenOption how) throws IOException {
        if (blockSize(file) > Range.PAGE || onTmpfs(file)) {
            return null;
        }
        try {
            return FileChannel.open(file, how, ExtendedOpenOption.DIRECT, LinkOption.NOFOLLOW_LINKS);
        } catch (FileSystemException | UnsupportedOperationException e) {
            return null;
        }
    }

    /** False where it can not be told, as in {@link #blockSize}. */
    private static boolean onTmpfs(Path file) {
        try {
            return Files.getFileStore(file).type().equals("tmpfs");
        } catch (IOException e) {
            return false;
        }
    }

    /** Long.MAX_VALUE where it can not be told: in a chroot whose root is no mount point the JDK finds no file store. */
    private static long blockSize(Path file) {
        try {
            return Files.getFileStore(file).getBlockSize();
        } catch (IOException e) {
            return Long.MAX_VALUE;
        }
    }

    @Override
    public Input open(Path file) throws IOException {
        if (!isRegularIfThere(file)) {
            throw new NoSuchFileException(file.toString());
        }
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
        try {
            return new LocalInput(file, channel);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** Looked at before it is opened, which for a pipe would wait until somebody opens its other end, perhaps for ever (fifo(7)). */
    private static boolean isRegularIfThere(Path file) throws ImageError {
        if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return true;
        }
        if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            throw new ImageError.Corrupt(file, -1, "not a regular file; remove it");
        }
        return false;
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw Errno.named(to, -1, e);
        }
    }

    @Override
    public void syncDirectory(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        } catch (IOException e) {
            throw Errno.named(directory, -1, e);
        }
    }

    @Override
    public void delete(Path path) throws IOException {
        Files.delete(path);
    }

    @Override
    public List<Path> list(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.sorted().toList();
        } catch (java.io.UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** One name where a directory has several, by links. */
    private static Path realName(Path file) throws IOException {
        try {
            return file.toAbsolutePath().getParent().toRealPath().resolve(file.getFileName());
        } catch (IOException e) {
            throw Errno.named(file, -1, e);
        }
    }

    @Override
    public Closeable lock(Path file) throws IOException {
        isRegularIfThere(file);
        ReentrantLock threads = THREADS.computeIfAbsent(realName(file), _ -> new ReentrantLock());
        threads.lock();
        FileChannel channel = null;
        try {
            // To read as well: should a pipe have come into its place meanwhile, that does not wait (fifo(7)), and is refused by the lock.
            channel = FileChannel.open(file, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE, LinkOption.NOFOLLOW_LINKS), FILE_MODE);
            FileLock lock = channel.lock();
            FileChannel held = channel;
            channel = null;
            return () -> {
                try (held; lock) {
                    lock.release();
                } finally {
                    threads.unlock();
                }
            };
        } catch (IOException e) {
            threads.unlock();
            throw Errno.named(file, -1, e);
        } finally {
            if (channel != null) {
                channel.close();
            }
        }
    }
}
