package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.write.FakeProcess;

/** A file system of 8 MiB that fills up. Needs the right to mount. */
@Timeout(180)
class FullDiskTest {
    @TempDir
    Path temp;
    private boolean mounted;

    @BeforeEach
    void mount() throws Exception {
        mounted = run("mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", temp.toString()) == 0;
        assumeTrue(mounted, "no right to mount a file system here");
    }

    @AfterEach
    void unmount() throws Exception {
        if (mounted) {
            assertEquals(0, run("umount", temp.toString()));
        }
    }

    private static int run(String... command) throws Exception {
        return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start().waitFor();
    }

    @Test
    void aFullDiskIsToldApartAndTheOldCheckpointStays() throws Exception {
        Path parent = temp.resolve("c");
        List<FakeProcess> small = List.of(new FakeProcess(1, new Random(1), 5, 20));
        Images.write(parent, Images.options(), small);
        FakeProcess large = new FakeProcess(1, new Random(2), 1, 1);
        byte[] memory = new byte[20 << 20];
        new Random(3).nextBytes(memory);
        large.memory.clear();
        large.memory.put(0x1000L, memory);
        ImageError.NoSpace error =
                assertThrows(ImageError.NoSpace.class, () -> Images.write(parent, Images.options(), List.of(large)));
        assertTrue(error.file().getFileName().toString().startsWith("node-0000.stripe-"), error.getMessage());
        Catalogue catalogue = new Catalogue(parent, Images.KEY);
        assertEquals(List.of(1L), catalogue.list().stream().map(Catalogue.Entry::id).toList());
        Images.assertHolds(parent.resolve("ckpt-0001"), small);
        assertEquals(3, Images.write(parent, Images.options(), small).id());
    }

    @Test
    void aDiskThatIsFullFromTheStartIsToldApartToo() throws Exception {
        Path parent = temp.resolve("c");
        Images.write(parent, Images.options(), List.of());
        Files.write(temp.resolve("filler"), new byte[1 << 20]);
        assertThrows(java.io.IOException.class, () -> {
            try (var out = Files.newOutputStream(temp.resolve("filler2"))) {
                while (true) {
                    out.write(new byte[4096]);
                }
            }
        });
        assertThrows(ImageError.NoSpace.class, () -> Images.write(parent, Images.options(), List.of()));
        assertEquals(1, new Catalogue(parent, Images.KEY).newestComplete().orElseThrow().id());
    }
}
