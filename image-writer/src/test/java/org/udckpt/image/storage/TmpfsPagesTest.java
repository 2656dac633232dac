package org.udckpt.image.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.linux.Syscall;

@Timeout(60)
class TmpfsPagesTest {
    private static final List<String> MOUNTS = List.of(
            "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw",
            "28 27 0:24 / /dev/shm rw,nosuid - tmpfs tmpfs rw,size=100k",
            "29 27 0:25 / /fast rw - tmpfs tmpfs rw,size=100k,huge=within_size",
            "30 29 0:26 / /fast/small\\040one rw - tmpfs tmpfs rw,huge=never",
            "31 27 0:27 / /twice rw - tmpfs tmpfs rw",
            "32 27 254:1 / /twice rw - xfs /dev/vdb rw,huge");

    @TempDir
    Path temp;

    private static boolean small(String mount) {
        return TmpfsPages.small(MOUNTS, mount);
    }

    @Test
    void itGoesByTheMount() {
        assertTrue(small("28"));
        assertTrue(small("30"));
        assertFalse(small("29"));
        assertTrue(small("31"));
        assertFalse(small("32"), "it is another mount at the same place");
        assertFalse(small("2"));
        assertFalse(TmpfsPages.small(List.of(), "28"));
    }

    @Test
    void ofThisMachine() throws Exception {
        for (Path directory : List.of(temp, Path.of("/dev/shm"))) {
            Path file = Files.createTempFile(directory, "tmpfs-pages", ".test");
            int descriptor = org.udckpt.linux.Files.open(file.toString(), Syscall.O_RDONLY);
            try {
                assertEquals(Files.getFileStore(file).type().equals("tmpfs"), TmpfsPages.small(descriptor));
            } finally {
                org.udckpt.linux.Files.close(descriptor);
                Files.delete(file);
            }
        }
    }
}
