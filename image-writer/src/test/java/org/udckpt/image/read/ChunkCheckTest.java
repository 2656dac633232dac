package org.udckpt.image.read;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.udckpt.image.ImageError;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Chunk;
import org.udckpt.image.block.Codec;

/** A table of chunks that breaks a rule of the format is refused even when its seal is right. */
@Timeout(60)
class ChunkCheckTest {
    private static final Block BLOCK = new Block(0, 0, 0x3000, 0x3000, Codec.RAW, 0, null, null);

    private static Chunk data(int process, long address, long length, long checkpoint, int block, int within) {
        return new Chunk(process, address, length, checkpoint, block, within, Chunk.Kind.DATA);
    }

    /** This checkpoint is 7 with two blocks, its base 4 with one, all of 0x3000 bytes. */
    private static List<Chunk> good() {
        return List.of(data(1, 0x1000, 0x2000, 7, 0, 0x1000), Chunk.zero(1, 0x3000, 1L << 40),
                data(1, 0x1000 + (1L << 41), 0x3000, 4, 0, 0),
                data(2, 0x1000, 0x1000, 7, 1, 0x2000));
    }

    private static void check(List<Chunk> chunks) throws ImageError {
        new ChunkCheck(Path.of("chunks"), Map.of(7L, List.of(BLOCK, BLOCK), 4L, List.of(BLOCK))).check(chunks);
    }

    @Test
    void aGoodTableIsTaken() throws Exception {
        check(good());
    }

    static Stream<Arguments> bad() {
        return Stream.of(
                Arguments.of("address not a page", 0, data(1, 0x1001, 0x2000, 7, 0, 0)),
                Arguments.of("negative address", 0, data(1, -0x1000, 0x2000, 7, 0, 0)),
                Arguments.of("no length", 0, data(1, 0x1000, 0, 7, 0, 0)),
                Arguments.of("negative length", 0, data(1, 0x1000, -0x1000, 7, 0, 0)),
                Arguments.of("end overflows", 1, Chunk.zero(1, 0x3000, Long.MAX_VALUE & -4096)),
                Arguments.of("overlaps the next", 0, data(1, 0x1000, 0x3000, 7, 0, 0)),
                Arguments.of("process out of order", 0, data(9, 0x1000, 0x2000, 7, 0, 0)),
                Arguments.of("longer than its block", 3, data(2, 0x1000, 0x4000, 7, 1, 0)),
                Arguments.of("beyond its block", 3, data(2, 0x1000, 0x2000, 7, 1, 0x2000)),
                Arguments.of("begins beyond its block", 3, data(2, 0x1000, 0x1000, 7, 1, 0x4000)),
                Arguments.of("begins before its block", 3, data(2, 0x1000, 0x1000, 7, 1, -0x1000)),
                Arguments.of("not on a page of its block", 3, data(2, 0x1000, 0x1000, 7, 1, 0x800)),
                Arguments.of("no such block", 3, data(2, 0x1000, 0x1000, 7, 2, 0)),
                Arguments.of("no such block in the base", 2, data(1, 1L << 42, 0x1000, 4, 1, 0)),
                Arguments.of("negative block", 3, data(2, 0x1000, 0x1000, 7, -1, 0)),
                Arguments.of("no such base", 3, data(2, 0x1000, 0x1000, 5, 0, 0)),
                Arguments.of("length beyond an int", 3, data(2, 0x1000, 1L << 32, 7, 1, 0)),
                Arguments.of("zeros with a place", 1, new Chunk(1, 0x3000, 0x1000, 7, 0, 0, Chunk.Kind.ZERO)),
                Arguments.of("zeros within", 1, new Chunk(1, 0x3000, 0x1000, 0, -1, 0x1000, Chunk.Kind.ZERO)),
                Arguments.of("no kind", 3, new Chunk(2, 0x1000, 0x1000, 7, 1, 0, null)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void bad(String what, int row, Chunk chunk) {
        List<Chunk> chunks = new ArrayList<>(good());
        chunks.set(row, chunk);
        assertTrue(
                assertThrows(ImageError.Corrupt.class, () -> check(chunks)).getMessage().startsWith("chunks: chunk "));
    }
}
