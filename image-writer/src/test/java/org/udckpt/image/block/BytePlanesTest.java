package org.udckpt.image.block;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.image.Images;
import org.udckpt.image.Range;

/** An image that was written with the C library is read where there is none, and the other way round. */
@Timeout(60)
class BytePlanesTest {
    private static final int GAP = 12;
    private final Random random = new Random(Images.seed("BytePlanesTest"));
    private final BytePlanes java = new JavaPlanes();

    private static MemorySegment noise(Arena arena, Random random, long length) {
        byte[] content = new byte[(int) length];
        random.nextBytes(content);
        return arena.allocate(length).copyFrom(MemorySegment.ofArray(content));
    }

    @Test
    void bothKindsAgree() {
        assertTrue(NativePlanes.THERE, "no libudckpt-agent.so where udckpt.native says");
        BytePlanes c = new NativePlanes();
        try (Arena arena = Arena.ofConfined()) {
            for (int pages : new int[]{1, 2, 3, 7, 255, 256}) {
                int length = pages * Range.PAGE;
                MemorySegment content = noise(arena, random, length);
                for (int first = 0; first <= BytePlanes.PLANES; first++) {
                    long room = first * (length / BytePlanes.PLANES + GAP);
                    MemorySegment[] to = {arena.allocate(room), arena.allocate(room)};
                    MemorySegment[] others = {arena.allocate(length), arena.allocate(length)};
                    java.split(content, length, first, GAP, to[0], others[0]);
                    c.split(content, length, first, GAP, to[1], others[1]);
                    assertEquals(-1, to[0].mismatch(to[1]));
                    long rest = (long) first * (length / BytePlanes.PLANES);
                    assertEquals(-1, others[0].asSlice(rest).mismatch(others[1].asSlice(rest)));
                }
            }
        }
    }

    @Test
    void whatIsSplitIsJoined() {
        for (BytePlanes planes : new BytePlanes[]{java, new NativePlanes()}) {
            try (Arena arena = Arena.ofConfined()) {
                int length = 5 * Range.PAGE;
                MemorySegment content = noise(arena, random, length);
                MemorySegment split = arena.allocate(length);
                planes.split(content, length, 0, 0, split, split);
                for (int i = 0; i < length; i++) {
                    long at = i % BytePlanes.PLANES * (long) (length / BytePlanes.PLANES) + i / BytePlanes.PLANES;
                    assertEquals(content.get(ValueLayout.JAVA_BYTE, i), split.get(ValueLayout.JAVA_BYTE, at));
                }
                MemorySegment joined = arena.allocate(length);
                planes.join(split, length, joined);
                assertEquals(-1, content.mismatch(joined));
            }
        }
    }

    @Test
    void bothCountTheSame() {
        try (Arena arena = Arena.ofConfined()) {
            for (int pages : new int[]{2, 3, 100, 256}) {
                MemorySegment content = noise(arena, random, (long) pages * Range.PAGE);
                long ints = (long) BytePlanes.PLANES * BytePlanes.VALUES;
                MemorySegment one = arena.allocate(ValueLayout.JAVA_INT, ints);
                MemorySegment other = arena.allocate(ValueLayout.JAVA_INT, ints);
                java.count(content, pages * Range.PAGE, one);
                new NativePlanes().count(content, pages * Range.PAGE, other);
                assertEquals(-1, one.mismatch(other));
                int sum = 0;
                for (int i = 0; i < BytePlanes.VALUES; i++) {
                    sum += one.getAtIndex(ValueLayout.JAVA_INT, i);
                }
                assertEquals(BytePlanes.RUNS * BytePlanes.RUN, sum);
            }
        }
    }

    /** C code gets no memory that is not there. */
    @Test
    void lengthsAreChecked() {
        BytePlanes c = new NativePlanes();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment page = arena.allocate(Range.PAGE);
            MemorySegment two = arena.allocate(2 * Range.PAGE);
            assertThrows(IndexOutOfBoundsException.class, () -> c.split(page, 2 * Range.PAGE, 0, 0, two, two));
            assertThrows(IndexOutOfBoundsException.class, () -> c.split(two, 2 * Range.PAGE, 0, 0, page, page));
            assertThrows(IndexOutOfBoundsException.class, () -> c.split(two, 2 * Range.PAGE, 5, GAP, page, two));
            assertThrows(IndexOutOfBoundsException.class, () -> c.join(page, 2 * Range.PAGE, two));
            assertThrows(IndexOutOfBoundsException.class, () -> c.join(two, 2 * Range.PAGE, page));
            assertThrows(IllegalArgumentException.class, () -> c.join(two, Range.PAGE + Long.BYTES, two));
            assertThrows(IndexOutOfBoundsException.class, () -> c.count(page, 2 * Range.PAGE, two));
            assertThrows(IllegalArgumentException.class, () -> c.count(page, Range.PAGE, two));
            assertThrows(IllegalArgumentException.class,
                    () -> c.join(MemorySegment.ofArray(new byte[Range.PAGE]), Range.PAGE, page));
        }
    }
}
