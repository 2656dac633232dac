package org.udckpt.inspect.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.udckpt.process.model.MemorySource;

/** Headers by elf(5), and which pieces of a region become which segments. */
class CoreLayoutTest {
    private static final NeverRead SOURCE = new NeverRead();
    private static final long MIB = 1 << 20;

    private static final class NeverRead implements MemorySource {
        @Override
        public long id() {
            return 0;
        }

        @Override
        public boolean process() {
            return true;
        }

        @Override
        public long[] extents() {
            return new long[0];
        }

        @Override
        public void read(long offset, MemorySegment target) {
            throw new AssertionError();
        }
    }

    private static ByteBuffer headers(int segments) {
        List<Segment> list = new ArrayList<>();
        for (long i = 1; i <= segments; i++) {
            list.add(new Segment(i << 16, (i << 16) + 4096, 6,
                    i % 2 == 0 ? List.of() : List.of(Piece.stored(i << 16, (i << 16) + 4096, SOURCE, 0))));
        }
        CoreLayout layout = CoreLayout.of(list, new byte[20]);
        assertEquals(segments, layout.offsets().length);
        assertTrue(layout.offsets()[0] >= layout.headers().length && layout.offsets()[0] % 4096 == 0);
        assertEquals(layout.offsets()[0] + (segments + 1) / 2 * 4096L, layout.length());
        return ByteBuffer.wrap(layout.headers()).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void headers() {
        ByteBuffer few = headers(3);
        assertEquals(4, few.getShort(56), "e_phnum");
        assertEquals(0, few.getLong(40), "e_shoff");
        assertEquals(4, few.getInt(64), "PT_NOTE first");
        assertEquals(20, few.getLong(64 + 32), "its size");
        assertEquals(1 << 16, few.getLong(64 + 56 + 16), "the first segment's address");
        assertEquals(0, few.getLong(64 + 2 * 56 + 32), "the second one's bytes are not in the file");
        assertEquals(4096, few.getLong(64 + 2 * 56 + 40), "but in memory");
    }

    /** vm.max_map_count can be set above what e_phnum holds. */
    @Test
    void moreSegmentsThanFitIntoTheHeader() {
        int segments = 70_000;
        ByteBuffer many = headers(segments);
        assertEquals((short) 0xffff, many.getShort(56), "PN_XNUM");
        int section = (int) many.getLong(40);
        assertEquals(64 + (segments + 1) * 56, section);
        assertEquals(segments + 1, many.getInt(section + 44), "sh_info of the first section header");
        assertEquals(1, many.getShort(60), "e_shnum");
    }

    @Test
    void segmentsOfARegion() {
        List<Piece> pieces = List.of(Piece.zero(0, 4096), Piece.stored(4096, 8192, SOURCE, 4096),
                Piece.zero(8192, 8192 + MIB), Piece.stored(8192 + MIB, 12288 + MIB, SOURCE, 0),
                Piece.file(12288 + MIB, 16384 + MIB));
        List<Segment> segments = Segment.of(pieces, "r-xp");
        assertEquals(List.of(8192L, 0L, 4096L, 0L), segments.stream().map(Segment::fileSize).toList());
        assertEquals(List.of(0L, 8192L, 8192 + MIB, 12288 + MIB), segments.stream().map(Segment::start).toList());
        assertTrue(segments.stream().allMatch(segment -> segment.flags() == 5));
    }
}
