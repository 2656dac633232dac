package org.udckpt.process.restore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.linux.User;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.SharedMemory;

/** Shared memory for which there is no room is named before anything is made, with what it takes and what there is. */
@Timeout(60)
class SharedRoomTest {
    private static final int MIB = 1 << 20;

    @TempDir
    Path directory;

    @Test
    void whatDoesNotFitIsToldBefore() throws Exception {
        assumeTrue(User.id() == 0, "only root mounts");
        assertEquals(0,
                new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=4m", "udckpt-small", directory.toString())
                        .inheritIO().start().waitFor());
        try {
            check(2, 1);
            RestoreException refused = assertThrows(RestoreException.class, () -> check(3, 2));
            assertEquals(RestoreException.Reason.NO_SPACE, refused.reason());
            assertTrue(
                    refused.getMessage().contains("takes 5120 KiB more in " + directory + ", where 4096 KiB are free"),
                    refused.getMessage());
            // of the job's former incarnation, which is emptied
            Files.write(directory.resolve("segment-0"), new byte[2 * MIB]);
            check(2, 2);
            Files.write(directory.resolve("another"), new byte[MIB]);
            assertThrows(RestoreException.class, () -> check(2, 2));
        } finally {
            new ProcessBuilder("umount", directory.toString()).inheritIO().start().waitFor();
        }
    }

    private void check(int... mebibytes) {
        List<MemorySource> memory = new ArrayList<>();
        List<KernelObject> objects = new ArrayList<>();
        for (int i = 0; i < mebibytes.length; i++) {
            objects.add(new SharedMemory(i + 1, MemoryKind.NAMED_FILE, directory.resolve("segment-" + i).toString(),
                    (long) mebibytes[i] * MIB, 0600, 0, 0, 0, 0, 0));
            memory.add(new Zeros(i + 1, (long) mebibytes[i] * MIB));
        }
        SharedRoom.check(
                new JobImage(List.of(), List.of(), List.of(), List.of(), objects, List.of(), List.of(), null, null),
                memory);
    }

    private record Zeros(long id, long size) implements MemorySource {
        @Override
        public boolean process() {
            return false;
        }

        @Override
        public long[] extents() {
            return new long[]{0, size};
        }

        @Override
        public void read(long offset, MemorySegment target) {
            target.fill((byte) 0);
        }
    }
}
