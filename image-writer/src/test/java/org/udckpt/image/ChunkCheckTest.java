package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A table of chunks that breaks a rule of the format is refused even when its seal is right. */
@Timeout(60)
class ChunkCheckTest {
    private static final byte[] DIGEST = new byte[32];

    private static Chunk data(int process, long address, long length, int stripe, long offset) {
        return new Chunk(process, address, length, stripe, offset, 1, Chunk.Kind.DATA, DIGEST);
    }

    /** Two stripes of 0x3000 and 0x1000 bytes. */
    private static List<Chunk> good() {
        return List.of(data(1, 0x1000, 0x2000, 0, 0), Chunk.zero(1, 0x3000, 1L << 40), data(1, 0x1000 + (1L << 41), 0x1000, 1, 0),
                data(2, 0x1000, 0x1000, 0, 0x2000));
    }

    private static List<Chunk> check(List<Chunk> chunks) throws ImageError {
        return new ChunkCheck(Path.of("chunks"), Manifest.Integrity.SHA256, List.of(0x3000L, 0x1000L)).check(chunks);
    }

    @Test
    void aGoodTableIsSortedByFile() throws Exception {
        assertEquals(List.of(good().get(0), good().get(3), good().get(2)), check(good()));
    }

    static Stream<Arguments> bad() {
        return Stream.of(
                Arguments.of("address not a page", 0, data(1, 0x1001, 0x2000, 0, 0)),
                Arguments.of("negative address", 0, data(1, -0x1000, 0x2000, 0, 0)),
                Arguments.of("no length", 0, data(1, 0x1000, 0, 0, 0)),
                Arguments.of("negative length", 0, data(1, 0x1000, -0x1000, 0, 0)),
                Arguments.of("end overflows", 1, Chunk.zero(1, 0x3000, Long.MAX_VALUE & -4096)),
                Arguments.of("overlaps the next", 0, data(1, 0x1000, 0x3000, 0, 0)),
                Arguments.of("process out of order", 0, data(9, 0x1000, 0x2000, 0, 0)),
                Arguments.of("too long a chunk", 3, data(2, 0x1000, Chunk.MAX_LENGTH + 0x1000, 0, 0x2000)),
                Arguments.of("no such stripe", 2, data(1, 1L << 41, 0x1000, 2, 0)),
                Arguments.of("negative stripe", 2, data(1, 1L << 41, 0x1000, -1, 0)),
                Arguments.of("gap in the file", 3, data(2, 0x1000, 0x1000, 0, 0x3000)),
                Arguments.of("bytes used twice", 3, data(2, 0x1000, 0x1000, 0, 0)),
                Arguments.of("beyond the file", 3, data(2, 0x1000, 0x2000, 0, 0x2000)),
                Arguments.of("bytes not covered", 3, Chunk.zero(2, 0x1000, 0x1000)),
                Arguments.of("zeros with a place", 1, new Chunk(1, 0x3000, 0x1000, 0, 0, 0, Chunk.Kind.ZERO, null)),
                Arguments.of("zeros with a checksum", 1, new Chunk(1, 0x3000, 0x1000, -1, 0, 5, Chunk.Kind.ZERO, null)),
                Arguments.of("data without digest", 3, new Chunk(2, 0x1000, 0x1000, 0, 0x2000, 1, Chunk.Kind.DATA, null)),
                Arguments.of("half a digest", 3, new Chunk(2, 0x1000, 0x1000, 0, 0x2000, 1, Chunk.Kind.DATA, new byte[16])),
                Arguments.of("no kind", 3, new Chunk(2, 0x1000, 0x1000, 0, 0x2000, 1, null, DIGEST)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void bad(String what, int row, Chunk chunk) {
        List<Chunk> chunks = new ArrayList<>(good());
        chunks.set(row, chunk);
        assertTrue(assertThrows(ImageError.Corrupt.class, () -> check(chunks)).getMessage().startsWith("chunks: chunk "));
    }
}
