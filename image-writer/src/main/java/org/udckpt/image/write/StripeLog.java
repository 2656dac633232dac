package org.udckpt.image.write;

import java.util.ArrayList;
import java.util.List;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Chunk;

/** Collects the rows of one stripe writer, and puts those of several together. */
final class StripeLog {
    private final long checkpoint;
    private final List<Block> blocks = new ArrayList<>();
    private final List<HashedChunk> chunks = new ArrayList<>();

    /** @param checkpoint that is being written */
    StripeLog(long checkpoint) {
        this.checkpoint = checkpoint;
    }

    long checkpoint() {
        return checkpoint;
    }

    /** Returns the block's number in this log. */
    int add(Block block) {
        blocks.add(block);
        return blocks.size() - 1;
    }

    /** Blocks of this checkpoint are numbered as in this log. */
    void add(HashedChunk chunk) {
        chunks.add(chunk);
    }

    /** All blocks, stripe by stripe. */
    static List<Block> blocks(List<StripeLog> logs) {
        List<Block> all = new ArrayList<>();
        logs.forEach(log -> all.addAll(log.blocks));
        return all;
    }

    /**
     * All chunks by process and address, those that go on in memory and in their block joined.
     *
     * @param others that are in no log
     */
    static List<HashedChunk> chunks(List<StripeLog> logs, List<HashedChunk> others) {
        List<HashedChunk> all = new ArrayList<>(others);
        int before = 0;
        for (StripeLog log : logs) {
            for (HashedChunk one : log.chunks) {
                Chunk chunk = one.chunk();
                all.add(chunk.kind() == Chunk.Kind.DATA && chunk.checkpoint() == log.checkpoint
                        ? new HashedChunk(chunk.inBlock(before + chunk.block()), one.hashes(), one.first())
                        : one);
            }
            before += log.blocks.size();
        }
        return sorted(all);
    }

    /** By process and address, those that go on in memory and in their block joined. */
    static List<HashedChunk> sorted(List<HashedChunk> all) {
        all.sort(StripeLog::compare);
        return joined(all);
    }

    private static int compare(HashedChunk a, HashedChunk b) {
        int processes = Integer.compare(a.chunk().process(), b.chunk().process());
        return processes != 0 ? processes : Long.compare(a.chunk().address(), b.chunk().address());
    }

    private static List<HashedChunk> joined(List<HashedChunk> all) {
        List<HashedChunk> joined = new ArrayList<>(all.size());
        for (HashedChunk next : all) {
            if (!joined.isEmpty() && joined.getLast().chunk().goesOnWith(next.chunk())) {
                joined.set(joined.size() - 1, joined.getLast().with(next));
            } else {
                joined.add(next);
            }
        }
        return joined;
    }
}
