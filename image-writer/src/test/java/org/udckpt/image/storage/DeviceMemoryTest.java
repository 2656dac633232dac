package org.udckpt.image.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Memory that devices take at once. */
class DeviceMemoryTest {
    private static final long HUGE = 2 << 20;

    /** Kilobytes of huge pages in the mapping with this address, by smaps; -1: it is not mapped. */
    private static long inHugePages(long address) throws IOException {
        List<String> lines = Files.readAllLines(Path.of("/proc/self/smaps"));
        boolean here = false;
        for (String line : lines) {
            if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                String[] range = line.substring(0, line.indexOf(' ')).split("-");
                here = Long.parseUnsignedLong(range[0], 16) <= address
                        && address < Long.parseUnsignedLong(range[1], 16);
            } else if (here && line.startsWith("AnonHugePages:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        return -1;
    }

    @Test
    void itIsAlignedAndEmptyAndGoesWithItsArena() throws IOException {
        long address;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = DeviceMemory.map(arena, 5 << 20);
            address = memory.address();
            assertEquals(0, address % HUGE);
            assertEquals(5 << 20, memory.byteSize());
            assertEquals(-1, memory.mismatch(MemorySegment.ofArray(new byte[5 << 20])));
            assertNotEquals(-1, inHugePages(address));
        }
        assertEquals(-1, inHugePages(address));
    }

    @Test
    void itIsInHugePagesWhereThereAreAny() throws IOException {
        assumeFalse(Files.readString(Path.of("/sys/kernel/mm/transparent_hugepage/enabled")).contains("[never]"),
                "the administrator has turned them off");
        try (Arena arena = Arena.ofConfined()) {
            for (long bytes : new long[]{HUGE / 2, 2 * HUGE}) {
                // what is read at once at a verification is less than a huge page
                MemorySegment memory = DeviceMemory.map(arena, bytes);
                memory.fill((byte) 1);
                assertTrue(inHugePages(memory.address()) >= HUGE / 1024,
                        () -> "small pages at 0x" + Long.toHexString(memory.address()));
            }
        }
    }

    @Test
    void piecesAreApart() throws IOException {
        MemorySegment[] pieces = {DeviceMemory.piece(), DeviceMemory.piece(), DeviceMemory.piece()};
        for (int i = 0; i < pieces.length; i++) {
            assertEquals(1 << 20, pieces[i].byteSize());
            assertEquals(0, pieces[i].address() % (1 << 20));
            pieces[i].fill((byte) (i + 1));
        }
        for (int i = 0; i < pieces.length; i++) {
            assertEquals(i + 1, pieces[i].get(ValueLayout.JAVA_BYTE, 0));
            assertEquals(i + 1, pieces[i].get(ValueLayout.JAVA_BYTE, (1 << 20) - 1));
        }
    }

    @Test
    void moreThanThereIsIsSaid() {
        try (Arena arena = Arena.ofConfined()) {
            IOException error = assertThrows(IOException.class, () -> DeviceMemory.map(arena, 1L << 60));
            assertTrue(error.getMessage().contains("no memory for " + (1L << 60) + " bytes")
                    && error.getMessage().contains("--buffer"), error.getMessage());
        }
    }
}
