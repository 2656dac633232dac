package org.udckpt.image.write;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.image.Range;
import org.udckpt.image.block.Chunk;

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
            to.add(part(entry.getValue(), share.process, at, end));
            at = end;
        }
    }

    private static HashedChunk part(HashedChunk of, int process, long start, long end) {
        Chunk chunk = of.chunk();
        if (chunk.kind() == Chunk.Kind.ZERO) {
            return new HashedChunk(Chunk.zero(process, start, end - start), null);
        }
        int skipped = (int) (start - chunk.address());
        int page = skipped / Range.PAGE;
        long[] hashes = of.hashes() == null ? null
                : java.util.Arrays.copyOfRange(of.hashes(), 2 * page, 2 * (page + (int) ((end - start) / Range.PAGE)));
        return new HashedChunk(new Chunk(process, start, end - start, chunk.checkpoint(), chunk.block(),
                chunk.within() + skipped, chunk.kind()), hashes);
    }
}
