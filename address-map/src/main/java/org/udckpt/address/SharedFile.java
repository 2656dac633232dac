package org.udckpt.address;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.udckpt.linux.Syscall;

/** Maps a file of the runtime directory that the ranks map too. */
final class SharedFile {
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");

    private SharedFile() {}

    private static final int CHUNK = 1 << 20;

    /**
     * Makes a new file of {@code bytes} zero bytes, mode 0600, and maps it. Fails if it exists, or if there is no room
     * for all of it.
     */
    static MemorySegment create(Path path, long bytes, Arena arena) throws IOException {
        return create(path, bytes, bytes, arena);
    }

    /**
     * The same with room for the first {@code reserved} bytes; for others {@link #reserve} is asked before they are
     * used.
     */
    static MemorySegment create(Path path, long bytes, long reserved, Arena arena) throws IOException {
        try (FileChannel file = FileChannel.open(path,
                Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW),
                PosixFilePermissions.asFileAttribute(OWNER_ONLY))) {
            try {
                Files.setPosixFilePermissions(path, OWNER_ONLY); // whatever the umask: ranks open it, too
                if (!allocate(path, reserved)) {
                    reserve(file, path, 0, reserved);
                }
                return file.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
            } catch (IOException e) {
                Files.deleteIfExists(path);
                throw e;
            }
        }
    }

    /**
     * Zeros in a part of an existing file, so that it has memory: who touched a page of a full tmpfs for which there is
     * none would be ended by SIGBUS, and would not know why.
     *
     * @throws IOException there is no room, with how much it takes and the way out
     */
    static void reserve(Path path, long offset, long bytes) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
            reserve(file, path, offset, bytes);
        }
    }

    /**
     * As {@link #reserve} of a new file, by the kernel alone, which fills a page when it is used (fallocate(2)).
     *
     * @return false: the directory's file system cannot, or has no room; writing says what it is
     */
    private static boolean allocate(Path path, long bytes) {
        long file = org.udckpt.linux.Files.tryOpen(path.toString(), Syscall.O_RDWR);
        if (file < 0) {
            return false;
        }
        try {
            return bytes == 0 || Syscall.call(Syscall.FALLOCATE, file, 0, 0, bytes) == 0;
        } finally {
            org.udckpt.linux.Files.close((int) file);
        }
    }

    private static void reserve(FileChannel file, Path path, long offset, long bytes) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocateDirect((int) Math.min(CHUNK, bytes));
        try {
            for (long done = 0; done < bytes;) {
                zeros.clear().limit((int) Math.min(zeros.capacity(), bytes - done));
                done += file.write(zeros, offset + done);
            }
        } catch (IOException e) {
            throw new IOException(
                    ("%s takes %d KiB of the runtime directory, which has no room for it (%s): make room in %s, "
                            + "enlarge it, or set UDCKPT_RUNTIME to another directory in memory")
                            .formatted(path, (bytes + 1023) / 1024, e.getMessage(), path.getParent()),
                    e);
        }
    }

    /** @throws IOException also where it has fewer than {@code least} bytes */
    static MemorySegment open(Path path, long least, Arena arena) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            if (file.size() < least) {
                throw new IOException(path + ": it has " + file.size() + " bytes instead of at least " + least);
            }
            return file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
        }
    }

    static void check(Path path, MemorySegment segment, long magic, long hash, long wantedMagic, long wantedHash)
            throws IOException {
        if (magic != wantedMagic) {
            throw new IOException(path + ": wrong file type (magic 0x%x)".formatted(magic));
        }
        if (hash != wantedHash) {
            throw new IOException(path
                    + ": made by another build of udckpt (layout 0x%x, this one has 0x%x)".formatted(hash, wantedHash));
        }
    }
}
