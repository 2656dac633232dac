package org.udckpt.image.write;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.image.Range;

/** Ranges of a process's memory that are stored with another process: their rows name the other's blocks. */
final class SharedRanges {
    private record Share(int process, int with, Range range) {}

    private final List<Share> shares = new ArrayList<>();

    void add(int process, int with, List<Range> ranges) {
        ranges.forEach(range -> shares.add(new Share(process, with, range)));
    }

    /**
     * The rows of what was stored, and those of what is shared.
     *
     * @param stored by process and address
     */
    List<HashedChunk> with(List<HashedChunk> stored) {
        if (shares.isEmpty()) {
            return stored;
        }
        Map<Integer, TreeMap<Long, HashedChunk>> byProcess = new HashMap<>();
        stored.forEach(one -> byProcess.computeIfAbsent(one.chunk().process(), _ -> new TreeMap<>())
                .put(one.chunk().address(), one));
        List<HashedChunk> all = new ArrayList<>(stored);
        shares.forEach(share -> add(share, byProcess.getOrDefault(share.with, new TreeMap<>()), all));
        return StripeLog.sorted(all);
    }

    private static void add(Share share, TreeMap<Long, HashedChunk> owned, List<HashedChunk> to) {
        for (long at = share.range.address(); at < share.range.end();) {
            Map.Entry<Long, HashedChunk> entry = owned.floorEntry(at);
            if (entry == null || entry.getValue().chunk().end() <= at) {
                throw new IllegalArgumentException("process " + share.process + " shares 0x" + Long.toHexString(at)
                        + " with process " + share.with + ", which has not stored it");
            }
            long end = Math.min(share.range.end(), entry.getValue().chunk().end());
            to.add(entry.getValue().part(share.process, at, end));
            at = end;
        }
    }
}
