package org.udckpt.image;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Collects the chunks of one stripe writer, and puts those of several together. */
final class ChunkLog {
    private final List<Chunk> chunks = new ArrayList<>();

    void add(Chunk chunk) {
        chunks.add(chunk);
    }

    /** All chunks by process and address, neighbouring zero ranges joined. */
    static List<Chunk> merge(List<ChunkLog> logs) {
        List<Chunk> all = new ArrayList<>();
        logs.forEach(log -> all.addAll(log.chunks));
        all.sort(Comparator.comparingInt(Chunk::process).thenComparingLong(Chunk::address));
        List<Chunk> merged = new ArrayList<>(all.size());
        for (Chunk chunk : all) {
            Chunk last = merged.isEmpty() ? null : merged.getLast();
            if (last != null && last.kind() == Chunk.Kind.ZERO && chunk.kind() == Chunk.Kind.ZERO
                    && last.process() == chunk.process() && last.end() == chunk.address()) {
                merged.set(merged.size() - 1, Chunk.zero(chunk.process(), last.address(), last.length() + chunk.length()));
            } else {
                merged.add(chunk);
            }
        }
        return merged;
    }
}
