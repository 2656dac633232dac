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

    private static boolean small(String file) {
        return TmpfsPages.small(MOUNTS, Path.of(file));
    }

    @Test
    void itGoesByTheMount() {
        assertTrue(small("/dev/shm/a/b"));
        assertTrue(small("/fast/small one/a"));
        assertFalse(small("/fast/a"));
        assertFalse(small("/fastest/a"));
        assertFalse(small("/twice/a"), "the later mount is the one that is seen");
        assertFalse(TmpfsPages.small(List.of(), Path.of("/a")));
    }

    @Test
    void ofThisMachine() throws Exception {
        assertFalse(TmpfsPages.small(temp.resolve("not there")));
        Path file = Files.createFile(temp.resolve("file"));
        assertEquals(Files.getFileStore(file).type().equals("tmpfs"), TmpfsPages.small(file));
    }
}
