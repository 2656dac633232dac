package org.udckpt.address;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.layout.Layout.KeysHeader;

/** Files of remote keys; that the library finds what is in them is RcNodesTest's. */
class KeysFileTest {
    @TempDir
    Path directory;

    private static long[] sorted(long... pairs) {
        return LongStream.of(pairs).sorted().toArray();
    }

    @Test
    void whatWasPutIsReadAndNoMoreThanFits() throws IOException {
        Path file = KeysFile.of(directory, 3);
        long[] many = LongStream.range(1, KeysFile.MOST + 100).map(i -> KeysFile.pair((int) i, (int) -i)).toArray();
        try (KeysFile mirror = KeysFile.mirror(file, many)) {
            assertEquals(KeysFile.MOST, KeysFile.read(file).length, "half of the table, so that each search ends");
            mirror.put(KeysFile.pair(-5, 7));
            assertEquals(KeysFile.MOST, KeysFile.read(file).length);
        }
        try (KeysFile mirror = KeysFile.mirror(file, new long[]{KeysFile.pair(1, 2), KeysFile.pair(-2, -3)})) {
            mirror.put(KeysFile.pair(0xf0000000, 0x80000000));
            assertArrayEquals(sorted(KeysFile.pair(1, 2), KeysFile.pair(-2, -3), KeysFile.pair(0xf0000000, 0x80000000)),
                    sorted(KeysFile.read(file)));
        }
        assertEquals(1, Files.list(directory).count(), "nothing is left of how it was made");
    }

    @Test
    void aFileThatIsNoneIsRefusedByItsName() throws IOException {
        Path file = KeysFile.of(directory, 4);
        KeysFile.mirror(file, new long[0]).close();
        byte[] whole = Files.readAllBytes(file);
        for (int length : new int[]{0, 8, KeysHeader.SIZE, whole.length - 1}) {
            Files.write(file, java.util.Arrays.copyOf(whole, length));
            assertTrue(assertThrows(IOException.class, () -> KeysFile.read(file)).getMessage()
                    .contains("keys.4: it has " + length + " bytes"));
        }
        for (int field : new int[]{KeysHeader.MAGIC, KeysHeader.LAYOUT_HASH}) {
            byte[] other = whole.clone();
            ByteBuffer.wrap(other).order(ByteOrder.LITTLE_ENDIAN).putLong(field, 1);
            Files.write(file, other);
            assertTrue(assertThrows(IOException.class, () -> KeysFile.read(file)).getMessage().contains("keys.4"));
        }
    }
}
