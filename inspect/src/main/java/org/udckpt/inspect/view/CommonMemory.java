package org.udckpt.inspect.view;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.process.model.AddressRanges;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.StoredRange;
import org.udckpt.store.OpenNode;

/** Which memory of a node's processes is stored once for several of them: what a fork had left shared. */
final class CommonMemory {
    private record Piece(int pid, StoredRange range) {
        long end() {
            return range.offset() + range.end() - range.start();
        }
    }

    private final Map<Object, List<Piece>> blocks = new HashMap<>();
    private final Map<Integer, long[]> common = new HashMap<>();

    CommonMemory(OpenNode node) {
        for (ProcessState process : node.image().processes()) {
            for (StoredRange range : node.memory(process.pid()).stored()) {
                if (!range.block().equals(StoredRange.ZEROS)) {
                    blocks.computeIfAbsent(range.block(), _ -> new ArrayList<>()).add(new Piece(process.pid(), range));
                }
            }
        }
        Map<Integer, List<long[]>> found = new HashMap<>();
        blocks.values().forEach(pieces -> find(pieces, found));
        // several others may have parts of the same range
        found.forEach((pid, ranges) -> common.put(pid, AddressRanges.union(ranges)));
    }

    private static void find(List<Piece> pieces, Map<Integer, List<long[]>> found) {
        for (Piece piece : pieces) {
            for (Piece other : pieces) {
                long from = Math.max(piece.range.offset(), other.range.offset());
                long to = Math.min(piece.end(), other.end());
                if (piece.pid != other.pid && from < to) {
                    long address = piece.range.start() - piece.range.offset();
                    found.computeIfAbsent(piece.pid, _ -> new ArrayList<>())
                            .add(new long[]{address + from, address + to});
                }
            }
        }
    }

    /** Bytes of a process's memory between two addresses that another process has in common with it. */
    long bytes(int pid, long start, long end) {
        return AddressRanges.bytes(AddressRanges.both(common.getOrDefault(pid, new long[0]), new long[]{start, end}));
    }
}
