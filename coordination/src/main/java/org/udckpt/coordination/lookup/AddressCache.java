package org.udckpt.coordination.lookup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.udckpt.address.AddressBatch;
import org.udckpt.address.Endpoint;
import org.udckpt.address.TranslationTable;
import org.udckpt.address.VerbsAddress;
import org.udckpt.coordination.tree.MalformedMessage;

/**
 * The endpoints that a node of the tree knows, in a {@link TranslationTable} of its own, whose file has no name any
 * more. It grows by doubling. Keys are virtual addresses, LID &lt;&lt; 24 | QPN, and {@link #real}.
 */
public final class AddressCache implements TableCache, AutoCloseable {
    private static final int LID_SHIFT = 24;
    private static final long REAL = 1L << 62;

    private final Path file;
    private TranslationTable table;

    /**
     * @param file       in memory (/dev/shm), where none is; it has a name only while the table is made
     * @param capacity   endpoints that there is room for at first
     * @param generation of the job's incarnation
     */
    public AddressCache(Path file, int capacity, int generation) {
        this.file = file;
        this.table = table(capacity, generation);
    }

    /** The key of whatever is at this device's address. */
    public static long real(int lid, int qpn) {
        return REAL | (long) lid << LID_SHIFT | qpn;
    }

    /** The endpoint of a key, if it is known. */
    public Optional<Endpoint> get(long key) {
        if ((key & ~REAL) >>> LID_SHIFT > VerbsAddress.MAX_LID) {
            return Optional.empty(); // what a peer asks for may be anything
        }
        int lid = (int) ((key & ~REAL) >>> LID_SHIFT);
        int qpn = (int) key & VerbsAddress.MAX_QPN;
        return (key & REAL) != 0 ? table.byReal(lid, qpn) : table.byVirtual(lid, qpn);
    }

    /** Endpoints that it holds. */
    public int count() {
        return table.count();
    }

    @Override
    public long[] add(byte[] entries) throws MalformedMessage {
        try {
            List<Endpoint> endpoints = AddressBatch.endpoints(entries);
            for (Endpoint endpoint : endpoints) {
                if (table.count() == table.capacity()
                        && table.byVirtual(endpoint.virtual().lid(), endpoint.virtual().qpn()).isEmpty()) {
                    grow();
                }
                table.put(endpoint);
            }
            return endpoints.stream().mapToLong(endpoint -> endpoint.virtual().key()).toArray();
        } catch (IOException e) {
            throw new MalformedMessage("addresses: " + e.getMessage(), e);
        }
    }

    @Override
    public long[] missing(long[] keys) {
        return Arrays.stream(keys).filter(key -> get(key).isEmpty()).toArray();
    }

    @Override
    public List<byte[]> find(long[] keys) {
        List<byte[]> batches = new ArrayList<>();
        List<Endpoint> endpoints = new ArrayList<>();
        for (long key : keys) {
            get(key).ifPresent(endpoints::add);
            if (endpoints.size() == AddressBatch.MOST_ENDPOINTS) {
                batches.add(AddressBatch.endpoints(endpoints));
                endpoints.clear();
            }
        }
        if (!endpoints.isEmpty()) {
            batches.add(AddressBatch.endpoints(endpoints));
        }
        return batches;
    }

    @Override
    public void close() {
        table.close();
    }

    private void grow() {
        TranslationTable larger = table(Math.min(1 << 24, 2 * table.capacity()), table.generation());
        table.forEach(larger::put);
        table.close();
        table = larger;
    }

    private TranslationTable table(int capacity, int generation) {
        try {
            // what a killed process left is in nobody's way
            Path named = file.resolveSibling(file.getFileName() + "-" + UUID.randomUUID());
            TranslationTable made = TranslationTable.create(named, capacity, generation);
            Files.delete(named);
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(file + ": " + e.getMessage(), e);
        }
    }
}
