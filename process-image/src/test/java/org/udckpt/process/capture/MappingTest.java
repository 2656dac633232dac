package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Lines of /proc/PID/maps. */
class MappingTest {
    private static final String MAPS = """
            7f0000000000-7f0000001000 rw-s 00000000 00:01 0                          /SYSV9300608a (deleted)
            7f0000001000-7f0000002000 rw-p 00000000 00:00 0\s
            7f0000002000-7f0000003000 r-xp 00001000 fe:01 4711                       /usr/lib/with space.so
            7f0000003000-7f0000004000 rw-p 00000000 00:00 0                          [stack]
            7f0000004000-7f0000005000 rw-p 00000000 00:00 0                          [anon:named by prctl]
            """;

    @Test
    void theFirstSegmentOfANamespaceHasTheNumberZeroAndIsAFile() {
        List<Mapping> all = Mapping.parse(MAPS);
        assertEquals(5, all.size());
        Mapping segment = all.getFirst();
        assertTrue(segment.file() && segment.shared() && segment.deleted(), segment.toString());
        assertEquals("/SYSV9300608a", segment.path());
        assertEquals(0, segment.inode());
    }

    @Test
    void anonymousMemoryIsNoFileWhateverItIsCalled() {
        List<Mapping> all = Mapping.parse(MAPS);
        assertFalse(all.get(1).file());
        assertTrue(all.get(2).file());
        assertEquals("/usr/lib/with space.so", all.get(2).path());
        assertFalse(all.get(3).file());
        assertFalse(all.get(4).file());
        assertEquals("", all.get(4).path());
    }
}
