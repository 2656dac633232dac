package org.udckpt.ud;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import org.udckpt.address.KeyAuthority;
import org.udckpt.address.KeysFile;

/** The remote keys of ranks of other nodes, in files beside those of this node's ranks. Thread-safe. */
final class MirroredKeys implements AutoCloseable {
    private final Path directory;
    private final KeyAuthority authority;
    private final Map<Integer, KeysFile> files = new ConcurrentHashMap<>();

    MirroredKeys(Path directory, KeyAuthority authority) {
        this.directory = directory;
        this.authority = authority;
    }

    /** The rank's file is there. @return false if it is not on another node */
    boolean provide(int rank) {
        return files.computeIfAbsent(rank, this::make) != null;
    }

    private KeysFile make(int rank) {
        Optional<long[]> pairs = authority.of(rank);
        if (pairs.isEmpty()) {
            return null;
        }
        try {
            return KeysFile.mirror(KeysFile.of(directory, rank), pairs.get());
        } catch (IOException e) {
            throw new UncheckedIOException("the remote keys of rank " + rank + ": " + e.getMessage(), e);
        }
    }

    void tell(int rank, int virtualKey, int realKey) {
        authority.tell(rank, virtualKey, realKey);
    }

    /** What {@link KeyAuthority#find} finds is in the file from now on. */
    OptionalInt find(int rank, int virtualKey) {
        OptionalInt real = authority.find(rank, virtualKey);
        KeysFile file = files.get(rank);
        if (real.isPresent() && file != null) {
            file.put(KeysFile.pair(virtualKey, real.getAsInt()));
        }
        return real;
    }

    @Override
    public void close() {
        files.values().forEach(KeysFile::close);
        files.clear();
    }
}
