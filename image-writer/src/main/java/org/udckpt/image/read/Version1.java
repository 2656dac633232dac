package org.udckpt.image.read;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.udckpt.image.ImageError;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Chunk;
import org.udckpt.image.block.Codec;

/** Reads the tables of format version 1 as those of today: there each chunk is a block of its own. */
final class Version1 {
    private Version1() {}

    /**
     * @throws ImageError.Corrupt where a row is none that version 1 writes; the rest is for the checks of today's
     *     tables
     */
    static MemoryTables tables(long checkpoint, List<ChunkOfVersion1> rows, Path file) throws ImageError {
        List<Integer> stored = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            if (rows.get(i).kind() == Chunk.Kind.DATA) {
                checkLength(rows.get(i), i, file);
                stored.add(i);
            } else if (rows.get(i).stripe() != -1 || rows.get(i).offset() != 0 || rows.get(i).checksum() != 0
                    || rows.get(i).digest() != null) {
                throw new ImageError.Corrupt(file, -1,
                        "chunk " + i + ": zeros with a stripe, offset or checksum: " + rows.get(i));
            }
        }
        stored.sort(Comparator.comparingInt((Integer i) -> rows.get(i).stripe())
                .thenComparingLong(i -> rows.get(i).offset()));
        List<Block> blocks = new ArrayList<>();
        int[] number = new int[rows.size()];
        for (int i : stored) {
            ChunkOfVersion1 row = rows.get(i);
            number[i] = blocks.size();
            blocks.add(new Block(row.stripe(), row.offset(), (int) row.length(), (int) row.length(), Codec.RAW,
                    row.checksum(), row.digest(), null));
        }
        List<Chunk> chunks = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            ChunkOfVersion1 row = rows.get(i);
            chunks.add(row.kind() == Chunk.Kind.DATA
                    ? new Chunk(row.process(), row.address(), row.length(), checkpoint, number[i], 0, row.kind())
                    : new Chunk(row.process(), row.address(), row.length(), 0, -1, 0, row.kind()));
        }
        return new MemoryTables(blocks, chunks);
    }

    private static void checkLength(ChunkOfVersion1 row, int number, Path file) throws ImageError {
        if (row.length() <= 0 || row.length() > ChunkOfVersion1.MAX_LENGTH) {
            throw new ImageError.Corrupt(file, -1, "chunk " + number + ": length is out of range: " + row);
        }
    }
}
