package org.udckpt.bench.scale;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.udckpt.address.AddressBatch;
import org.udckpt.address.Endpoint;
import org.udckpt.coordination.lookup.TableCache;
import org.udckpt.coordination.tree.MalformedMessage;

/**
 * The table of a node without others below: a sorted array in place of its ranks' shared memory, of which a thousand
 * jobs' worth would not fit one machine.
 */
final class LeafCache implements TableCache {
    private long[] keys = new long[0];
    private long[] real = new long[0];

    @Override
    public long[] add(byte[] entries) throws MalformedMessage {
        try {
            List<Endpoint> more = AddressBatch.endpoints(entries).stream()
                    .sorted(java.util.Comparator.comparingLong(e -> e.virtual().key())).toList();
            long[] oldKeys = keys;
            long[] oldReal = real;
            keys = new long[oldKeys.length + more.size()];
            real = new long[keys.length];
            int old = 0;
            int at = 0;
            for (Endpoint endpoint : more) {
                long key = endpoint.virtual().key();
                for (; old < oldKeys.length && oldKeys[old] <= key; old++) {
                    if (oldKeys[old] < key) {
                        keys[at] = oldKeys[old];
                        real[at++] = oldReal[old];
                    }
                }
                keys[at] = key;
                real[at++] = endpoint.real().key();
            }
            System.arraycopy(oldKeys, old, keys, at, oldKeys.length - old);
            System.arraycopy(oldReal, old, real, at, oldKeys.length - old);
            at += oldKeys.length - old;
            keys = Arrays.copyOf(keys, at);
            real = Arrays.copyOf(real, at);
            return more.stream().mapToLong(endpoint -> endpoint.virtual().key()).toArray();
        } catch (IOException e) {
            throw new MalformedMessage("addresses: " + e.getMessage(), e);
        }
    }

    /** The real address, LID &lt;&lt; 24 | QPN, or -1. */
    long real(long key) {
        int at = Arrays.binarySearch(keys, key);
        return at < 0 ? -1 : real[at];
    }

    @Override
    public long[] missing(long[] wanted) {
        return Arrays.stream(wanted).filter(key -> Arrays.binarySearch(keys, key) < 0).toArray();
    }

    @Override
    public List<byte[]> find(long[] wanted) {
        throw new UnsupportedOperationException("a leaf of the tree is asked of by nobody");
    }
}
