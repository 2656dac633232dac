package org.udckpt.ud;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.udckpt.address.KeyAuthority;
import org.udckpt.address.KeysFile;

/**
 * The remote keys of ranks of other nodes, in files beside those of this node's ranks. Thread-safe; other nodes are
 * asked without any lock.
 */
final class MirroredKeys implements AutoCloseable {
    private final Path directory;
    private final KeyAuthority authority;
    private final Map<Integer, KeysFile> files = new HashMap<>();
    private boolean closed;

    MirroredKeys(Path directory, KeyAuthority authority) {
        this.directory = directory;
        this.authority = authority;
    }

    /**
     * The rank's file is there.
     *
     * @return false if it is not on another node
     * @throws IllegalStateException if its node does not say what belongs into it
     */
    boolean provide(int rank) {
        if (has(rank)) {
            return true;
        }
        Optional<long[]> pairs = authority.of(rank);
        return pairs.isPresent() && make(rank, pairs.get());
    }

    private synchronized boolean has(int rank) {
        return files.containsKey(rank);
    }

    private synchronized boolean make(int rank, long[] pairs) {
        if (!closed && !files.containsKey(rank)) { // else another of its peers asked at the same time
            try {
                files.put(rank, KeysFile.mirror(KeysFile.of(directory, rank), pairs));
            } catch (IOException e) {
                throw new UncheckedIOException("the remote keys of rank " + rank + ": " + e.getMessage(), e);
            }
        }
        return !closed;
    }

    void tell(int rank, int virtualKey, int realKey) {
        authority.tell(rank, virtualKey, realKey);
    }

    /** What {@link KeyAuthority#find} finds is in the file from now on. */
    OptionalInt find(int rank, int virtualKey) {
        OptionalInt real = authority.find(rank, virtualKey);
        real.ifPresent(key -> keep(rank, KeysFile.pair(virtualKey, key)));
        return real;
    }

    private synchronized void keep(int rank, long pair) {
        if (!closed && files.containsKey(rank)) {
            files.get(rank).put(pair);
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        files.values().forEach(KeysFile::close);
        files.clear();
    }
}
