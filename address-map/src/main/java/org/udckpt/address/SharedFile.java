package org.udckpt.address;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Maps a file of the runtime directory that the ranks map too. */
final class SharedFile {
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");

    private SharedFile() {}

    /** Makes a new file of {@code bytes} zero bytes, mode 0600, and maps it. Fails if it exists. */
    static MemorySegment create(Path path, long bytes, Arena arena) throws IOException {
        try (FileChannel file = FileChannel.open(path,
                Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW),
                PosixFilePermissions.asFileAttribute(OWNER_ONLY))) {
            Files.setPosixFilePermissions(path, OWNER_ONLY); // whatever the umask: ranks open it, too
            return file.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
        }
    }

    /** @throws IOException also where it has fewer than {@code least} bytes */
    static MemorySegment open(Path path, long least, Arena arena) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            if (file.size() < least) {
                throw new IOException(path + ": it has " + file.size() + " bytes, and such a file has " + least);
            }
            return file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
        }
    }

    static void check(Path path, MemorySegment segment, long magic, long hash, long wantedMagic, long wantedHash) throws IOException {
        if (magic != wantedMagic) {
            throw new IOException(path + ": not such a file (magic 0x%x)".formatted(magic));
        }
        if (hash != wantedHash) {
            throw new IOException(path + ": made by another build of udckpt (layout 0x%x, this one has 0x%x)".formatted(hash, wantedHash));
        }
    }
}
