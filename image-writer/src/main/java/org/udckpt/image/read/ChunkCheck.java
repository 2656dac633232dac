package org.udckpt.image.read;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.udckpt.image.ImageError;
import org.udckpt.image.Range;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Chunk;

/** Holds a table of chunks against the rules of the format, before any of its numbers is used. */
final class ChunkCheck {
    private final Path file;
    private final Map<Long, List<Block>> blocks;

    /**
     * @param file   of the table, for errors
     * @param blocks of this checkpoint and of its bases, by id
     */
    ChunkCheck(Path file, Map<Long, List<Block>> blocks) {
        this.file = file;
        this.blocks = blocks;
    }

    void check(List<Chunk> chunks) throws ImageError {
        for (int i = 0; i < chunks.size(); i++) {
            Chunk chunk = chunks.get(i);
            checkAlone(chunk, i);
            if (i > 0 && follows(chunks.get(i - 1), chunk)) {
                throw wrong(i, "overlaps the previous chunk, or is out of order");
            }
        }
    }

    private static boolean follows(Chunk last, Chunk chunk) {
        return last.process() > chunk.process() || last.process() == chunk.process() && last.end() > chunk.address();
    }

    private void checkAlone(Chunk c, int row) throws ImageError {
        if (c.kind() == null || c.address() < 0 || c.length() <= 0 || c.end() < 0 || c.address() % Range.PAGE != 0
                || c.length() % Range.PAGE != 0) {
            throw wrong(row, "not a page-aligned address range: " + c);
        }
        boolean right = switch (c.kind()) {
            case ZERO -> c.checkpoint() == 0 && c.block() == -1 && c.within() == 0;
            case DATA -> inBlock(c);
        };
        if (!right) {
            throw wrong(row, "does not match its kind and block: " + c);
        }
    }

    private boolean inBlock(Chunk c) {
        List<Block> of = blocks.get(c.checkpoint());
        return of != null && c.block() >= 0 && c.block() < of.size() && c.within() >= 0 && c.within() % Range.PAGE == 0
                && c.length() <= of.get(c.block()).length() - c.within();
    }

    private ImageError.Corrupt wrong(int row, String what) {
        return new ImageError.Corrupt(file, -1, "chunk " + row + ": " + what);
    }
}
