package org.udckpt.image.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.ImageError;
import org.udckpt.image.Images;

/** Whatever is asked for, and however it is aligned: the file's bytes come, past the page cache or through it. */
@Timeout(60)
class LocalInputTest {
    private static final int PAGE = 4096;

    @TempDir
    Path temp;

    private static byte[] file(Path path, Random random, int length) throws Exception {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        Files.write(path, bytes);
        return bytes;
    }

    private static byte[] read(StorageIo.Input input, Arena arena, int shift, int length, long position)
            throws Exception {
        MemorySegment memory = arena.allocate(length + shift, PAGE).asSlice(shift);
        ByteBuffer into = memory.asByteBuffer();
        input.read(into, position);
        assertEquals(0, into.remaining());
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void piecesOfAllKinds() throws Exception {
        Random random = new Random(Images.seed("LocalInputTest"));
        Path shared = Files.createTempFile(Path.of("/dev/shm"), "udckpt", ".input");
        try {
            for (Path path : List.of(temp.resolve("file"), shared)) {
                byte[] bytes = file(path, random, (1 << 20) + 100 * PAGE + 17);
                try (StorageIo.Input input = LocalStorage.INSTANCE.open(path); Arena arena = Arena.ofConfined()) {
                    for (int i = 0; i < 300; i++) {
                        boolean aligned = random.nextInt(3) > 0;
                        int length = 1 + random.nextInt(300 * PAGE);
                        long position = random.nextInt(bytes.length - length);
                        length = aligned ? Math.max(PAGE, length & -PAGE) : length;
                        position = aligned ? position & -PAGE : position;
                        byte[] got = read(input, arena, aligned && random.nextBoolean() ? 0 : random.nextInt(64),
                                length, position);
                        assertArrayEquals(Arrays.copyOfRange(bytes, (int) position, (int) position + length), got,
                                length + " at " + position);
                    }
                }
            }
        } finally {
            Files.delete(shared);
        }
    }

    @Test
    void aPieceThatGoesOnBehindTheEndIsSaidToBeMissing() throws Exception {
        Random random = new Random(Images.seed("LocalInputTest.end"));
        for (int length : new int[]{128 * PAGE, 128 * PAGE + 5, 100 * PAGE + 1, 17}) {
            Path path = temp.resolve("short" + length);
            file(path, random, length);
            try (StorageIo.Input input = LocalStorage.INSTANCE.open(path); Arena arena = Arena.ofConfined()) {
                ImageError.Corrupt error =
                        assertThrows(ImageError.Corrupt.class, () -> read(input, arena, 0, 256 * PAGE, 0));
                assertTrue(error.getMessage().contains("short" + length) && error.getMessage().contains("ends here"),
                        error.getMessage());
            }
        }
    }

    /** As when a checkpoint is pruned from which a job still gets its memory. */
    @Test
    void aFileIsReadToItsEndWhateverBecomesOfItsName() throws Exception {
        Random random = new Random(Images.seed("LocalInputTest.removed"));
        Path path = temp.resolve("removed");
        byte[] bytes = file(path, random, 256 * PAGE);
        try (StorageIo.Input input = LocalStorage.INSTANCE.open(path); Arena arena = Arena.ofConfined()) {
            Files.delete(path);
            assertArrayEquals(bytes, read(input, arena, 0, bytes.length, 0));
            file(path, random, 256 * PAGE);
            assertArrayEquals(bytes, read(input, arena, 0, bytes.length, 0));
        }
    }
}
