package org.udckpt.image.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.util.ByteArrayReadableSeekableByteChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.image.ImageError;

@Timeout(180)
class RecordTableTest {
    enum Colour {
        RED, GREEN
    }

    record All(int i, long l, boolean b, String s, byte[] bytes, int[] ints, long[] longs, Colour colour) {
        All {
            if (i == 666) {
                throw new IllegalStateException("refused");
            }
        }
    }

    sealed interface Shape {
        record Circle(long id, int radius) implements Shape {}

        record Polygon(long id, long[] corners, boolean closed) implements Shape {}

        sealed interface Flat extends Shape {}

        record Nothing() implements Flat {}
    }

    private static final Path FILE = Path.of("t.arrow");

    @Test
    void aRecordOfEveryTypeComesBack() throws IOException {
        RecordTable<All> table = RecordTable.of(All.class);
        List<All> rows = List.of(
                new All(-1, Long.MIN_VALUE, true, "gr\u00fc\u00df \uD83D\uDE00", new byte[]{1, -2}, new int[]{3, -4},
                        new long[]{5, -6}, Colour.GREEN),
                new All(Integer.MAX_VALUE, 0, false, null, null, null, null, null),
                new All(0, 7, true, "", new byte[0], new int[0], new long[0], Colour.RED));
        assertSame(rows, table.decode(table.encode(rows), FILE));
    }

    @Test
    void manyRandomRowsComeBack() throws IOException {
        long seed = System.nanoTime();
        System.out.println("RecordTableTest seed " + seed);
        Random random = new Random(seed);
        List<All> rows = new ArrayList<>();
        for (int i = 0; i < 70_000; i++) {
            rows.add(new All(random.nextInt(500), random.nextLong(), random.nextBoolean(),
                    random.nextInt(3) == 0 ? null : "s" + i,
                    random.nextInt(3) == 0 ? null : new byte[random.nextInt(40)],
                    random.ints(random.nextInt(4)).toArray(),
                    random.nextInt(3) == 0 ? null : random.longs(random.nextInt(4)).toArray(),
                    Colour.values()[random.nextInt(2)]));
        }
        RecordTable<All> table = RecordTable.of(All.class);
        assertSame(rows, table.decode(table.encode(rows), FILE));
    }

    /** As a version had it that knew the first kinds only. */
    sealed interface Earlier {
        record Circle(long id, int radius) implements Earlier {}
    }

    sealed interface Other {
        record Circle(long radius) implements Other {}
    }

    @Test
    void aTableOfAVersionWithFewerKindsIsRead() throws IOException {
        byte[] before =
                RecordTable.of(Earlier.class).encode(List.of(new Earlier.Circle(1, 2), new Earlier.Circle(3, 4)));
        assertEquals(List.of(new Shape.Circle(1, 2), new Shape.Circle(3, 4)),
                RecordTable.of(Shape.class).decode(before, FILE));
        byte[] later = RecordTable.of(Shape.class).encode(List.of(new Shape.Circle(1, 2)));
        assertThrows(ImageError.Corrupt.class, () -> RecordTable.of(Earlier.class).decode(later, FILE),
                "columns that nobody knows");
        byte[] other = RecordTable.of(Other.class).encode(List.of(new Other.Circle(1)));
        assertThrows(ImageError.Corrupt.class, () -> RecordTable.of(Shape.class).decode(other, FILE), "other columns");
    }

    /** Records that are listed and not permitted: the same bytes, and a record that is not listed is refused. */
    @Test
    void aListOfRecordsIsATableLikeASealedInterface() throws IOException {
        RecordTable<Shape> listed = RecordTable.of(Shape.class,
                List.of(Shape.Circle.class, Shape.Polygon.class, Shape.Nothing.class));
        List<Shape> rows = List.of(new Shape.Circle(1, 2), new Shape.Nothing());
        assertArrayEquals(RecordTable.of(Shape.class).encode(rows), listed.encode(rows));
        assertEquals(rows, listed.decode(listed.encode(rows), FILE));
        RecordTable<Shape> fewer = RecordTable.of(Shape.class, List.of(Shape.Circle.class));
        assertThrows(IllegalArgumentException.class, () -> fewer.encode(rows));
    }

    @Test
    void aSealedInterfaceComesBackKindByKind() throws IOException {
        RecordTable<Shape> table = RecordTable.of(Shape.class);
        List<Shape> rows =
                List.of(new Shape.Circle(1, 2), new Shape.Polygon(3, new long[]{4}, true), new Shape.Nothing(),
                        new Shape.Circle(5, 6));
        List<Shape> back = table.decode(table.encode(rows), FILE);
        assertEquals(4, back.size());
        assertEquals(rows.get(0), back.get(0));
        assertEquals(rows.get(2), back.get(2));
        assertEquals(rows.get(3), back.get(3));
        assertArrayEquals(new long[]{4}, ((Shape.Polygon) back.get(1)).corners());
        assertTrue(((Shape.Polygon) back.get(1)).closed());
    }

    @Test
    void anEmptyTableComesBack() throws IOException {
        assertEquals(List.of(), RecordTable.of(All.class).decode(RecordTable.of(All.class).encode(List.of()), FILE));
    }

    @Test
    void arrowsOwnReaderReadsTheFile() throws IOException {
        byte[] bytes = RecordTable.of(Shape.class)
                .encode(List.of(new Shape.Circle(1, 2), new Shape.Polygon(3, new long[]{4, 5}, true)));
        try (RootAllocator allocator = new RootAllocator();
                ArrowFileReader reader =
                        new ArrowFileReader(new ByteArrayReadableSeekableByteChannel(bytes), allocator)) {
            assertTrue(reader.loadNextBatch());
            VectorSchemaRoot root = reader.getVectorSchemaRoot();
            assertEquals("Polygon", root.getVector("record").getObject(1).toString());
            assertEquals(List.of(4L, 5L), root.getVector("corners").getObject(1));
            assertNull(root.getVector("corners").getObject(0));
        }
    }

    record Same(long id, int radius) {}

    record Renamed(long id, int diameter) {}

    record Wider(long id, long radius) {}

    @Test
    void anotherSchemaIsRefused() {
        byte[] bytes = RecordTable.of(Same.class).encode(List.of(new Same(1, 2)));
        ImageError renamed =
                assertThrows(ImageError.Corrupt.class, () -> RecordTable.of(Renamed.class).decode(bytes, FILE));
        assertTrue(renamed.getMessage().contains("'radius' instead of 'diameter'"), renamed.getMessage());
        assertThrows(ImageError.Corrupt.class, () -> RecordTable.of(Wider.class).decode(bytes, FILE));
        assertThrows(ImageError.Corrupt.class, () -> RecordTable.of(Shape.class).decode(bytes, FILE));
    }

    record Holder(Object any) {}

    sealed interface Clash {
        record A(int x) implements Clash {}

        record B(long x) implements Clash {}
    }

    @Test
    void whatATableCannotHoldIsNamed() {
        assertTrue(assertThrows(IllegalArgumentException.class, () -> RecordTable.of(Holder.class)).getMessage()
                .contains("Holder.any"));
        assertThrows(IllegalArgumentException.class, () -> RecordTable.of(Clash.class));
        assertThrows(IllegalArgumentException.class, () -> RecordTable.of(String.class));
        assertThrows(IllegalArgumentException.class, () -> RecordTable.of(Shape.Nothing.class));
        record Text(String s) {}
        assertThrows(IllegalArgumentException.class,
                () -> RecordTable.of(Text.class).encode(List.of(new Text("\uD800"))));
    }

    /** Changed bytes end in rows or in an ImageError: never in another exception, a hang or a huge allocation. */
    @Test
    void damagedFilesEndInImageErrors() {
        long seed = System.nanoTime();
        System.out.println("RecordTableTest fuzz seed " + seed);
        Random random = new Random(seed);
        RecordTable<All> table = RecordTable.of(All.class);
        byte[] good = table.encode(List.of(
                new All(1, 2, true, "text", new byte[]{1, 2, 3}, new int[]{4, 5}, new long[]{6, 7}, Colour.RED),
                new All(2, 3, false, null, new byte[]{9}, null, new long[]{8}, Colour.GREEN)));
        int[] refused = new int[1];
        org.junit.jupiter.api.Assertions.assertTimeout(Duration.ofSeconds(50), () -> {
            for (int i = 0; i < 40_000; i++) {
                byte[] bad = damage(good, random);
                try {
                    table.decode(bad, FILE);
                } catch (ImageError.Corrupt e) {
                    refused[0]++;
                }
            }
        });
        assertTrue(refused[0] > 10_000, "only " + refused[0] + " refused");
    }

    private static byte[] damage(byte[] good, Random random) {
        byte[] bad = random.nextInt(8) == 0 ? java.util.Arrays.copyOf(good, random.nextInt(good.length)) : good.clone();
        int[] interesting = {0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 8, 1 << 20};
        for (int n = 1 + random.nextInt(3); n > 0 && bad.length > 8; n--) {
            int at = random.nextInt(bad.length - 4);
            switch (random.nextInt(3)) {
                case 0 -> bad[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> java.nio.ByteBuffer.wrap(bad).order(java.nio.ByteOrder.LITTLE_ENDIAN)
                        .putInt(at & ~3, interesting[random.nextInt(interesting.length)]);
                default -> bad[at] = (byte) random.nextInt(256);
            }
        }
        return bad;
    }

    private static void assertSame(List<All> expected, List<All> actual) {
        assertEquals(expected.size(), actual.size());
        for (int i = 0; i < expected.size(); i++) {
            All a = expected.get(i);
            All b = actual.get(i);
            assertEquals(new All(a.i, a.l, a.b, a.s, null, null, null, a.colour),
                    new All(b.i, b.l, b.b, b.s, null, null, null, b.colour));
            assertArrayEquals(a.bytes, b.bytes);
            assertArrayEquals(a.ints, b.ints);
            assertArrayEquals(a.longs, b.longs);
        }
    }
}
