package org.udckpt.image.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.udckpt.image.ImageError;

/**
 * All that images do to a file system. Everything goes through here, so that tests can make each single call fail,
 * tear or be the last one.
 *
 * <p>A call either has its whole effect or throws an {@link IOException} that names the file; a full file system is
 * an {@link ImageError.NoSpace}. No call is ever retried: after a failed fsync the kernel may have dropped the dirty
 * pages and marked them clean (fsync(2), "EIO"; Rebello et al., ATC 2020), so a second success would mean nothing.
 */
public interface StorageIo {
    /** What a name is that of, without following it. */
    enum Kind {
        NOTHING, FILE, DIRECTORY, LINK, OTHER
    }

    /**
     * The same storage for one piece of work (a checkpoint that is written, a restart, a look around): each directory
     * is opened once, when it is first used, those of checkpoints below the one that they are in, and is the same until
     * the session is closed, whoever exchanges names meanwhile. Without one, each call is a session of its own.
     */
    Session session();

    /** Directories that are held open. A session of a session is the same one; it ends with the last that is closed. */
    interface Session extends StorageIo, Closeable {}

    /** Opens a directory for what follows. @return false: it is not there */
    boolean hasDirectory(Path directory) throws IOException;

    /**
     * Makes a directory, and those above it that are not there either, into which others may look; nothing where it is
     * there.
     */
    void makeDirectories(Path directory) throws IOException;

    /** The kind of file at a path. */
    Kind kind(Path path) throws IOException;

    /**
     * Makes a directory with mode 0700. Fails with {@link java.nio.file.FileAlreadyExistsException} when it is there.
     */
    void createDirectory(Path directory) throws IOException;

    /**
     * Makes a file with mode 0600 that is not there yet, open for appending.
     *
     * @param direct past the page cache where the file system takes it; {@link Output#direct()} tells
     */
    Output create(Path file, boolean direct) throws IOException;

    /** Opens a regular file for reading; a symbolic link is refused. */
    Input open(Path file) throws IOException;

    /** Where a file is that is to be read, for errors: views have some elsewhere than where they are looked for. */
    default Path place(Path file) throws IOException {
        return file;
    }

    /** Replaces {@code to}, if there is one, in one step. */
    void rename(Path from, Path to) throws IOException;

    /** Makes the names in a directory durable. */
    void syncDirectory(Path directory) throws IOException;

    /** Removes a file or an empty directory. */
    void delete(Path path) throws IOException;

    /** The entries of a directory, sorted by name. */
    List<Path> list(Path directory) throws IOException;

    /**
     * Waits for, and holds, the exclusive lock of a file (made when needed), against threads and processes alike.
     *
     * @throws ImageError.Busy      naming who holds it, after a minute
     * @throws ImageError.Untrusted when others than this user can open it, and so hold it for ever
     */
    Closeable lock(Path file) throws IOException;

    /**
     * Holds a file, as others may too, until it is closed: meanwhile {@link #exclude} finds it in use.
     *
     * @throws java.nio.file.NoSuchFileException also when it is being removed
     */
    Closeable hold(Path file) throws IOException;

    /** Holds a file alone, so that it can be removed; empty: somebody holds it. */
    Optional<Closeable> exclude(Path file) throws IOException;

    /** A file that is being written, from its beginning to its end. */
    interface Output extends Closeable {
        /** Whether writes go past the page cache; then all sizes and buffers must be multiples of 4096 bytes. */
        boolean direct();

        /**
         * A descriptor of this process by which the file can be opened once more
         * ({@link org.udckpt.linux.Files#reopen}) and appended to from elsewhere; -1: it goes through here only.
         */
        default int descriptor() {
            return -1;
        }

        /**
         * Whether its pages in memory are small unless they are asked for by madvise(2): those of a tmpfs. Then
         * {@link #truncate} is there, too.
         */
        default boolean smallPages() {
            return false;
        }

        /** ftruncate(2): the bytes behind {@code length} are removed. */
        default void truncate(long length) throws IOException {
            throw new UnsupportedOperationException("truncate");
        }

        /** Appends the remaining bytes of {@code buffers[0..count)} and leaves them consumed. */
        void append(ByteBuffer[] buffers, int count) throws IOException;

        /** Makes content and length durable. */
        void sync() throws IOException;

        long length() throws IOException;
    }

    /** A file that is being read. Thread-safe. */
    interface Input extends Closeable {
        long length() throws IOException;

        /** Fills {@code into} from {@code position} on; an end of file before that is an {@link ImageError.Corrupt}. */
        void read(ByteBuffer into, long position) throws IOException;
    }
}
