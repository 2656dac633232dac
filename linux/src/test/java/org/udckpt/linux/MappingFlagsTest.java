package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** smaps of kernels and processors that are not here. */
class MappingFlagsTest {
    private static String mapping(String start, String permissions, int resident, String key, String flags) {
        return start + "000-" + start + "800 " + permissions + " 00000000 00:00 0 \nSize: 2 kB\nRss:    " + resident
                + " kB\n" + key + "VmFlags: " + flags + " \n";
    }

    @Test
    void protectionKeysAreAFlag() {
        List<MappingFlags> all =
                MappingFlags.parse(mapping("7000", "rw-p", 0, "ProtectionKey:         3\n", "rd wr mr mw me ac")
                        + mapping("7001", "rw-p", 0, "ProtectionKey:         0\n", "rd wr")
                        + mapping("7002", "--xp", 0, "ProtectionKey:         1\n", "ex mr mw me")
                        + mapping("7003", "r--p", 0, "", "rd"));
        assertEquals(4, all.size());
        assertTrue(all.get(0).has(MappingFlags.KEYED));
        assertFalse(all.get(1).has(MappingFlags.KEYED));
        assertFalse(all.get(2).has(MappingFlags.KEYED), "the kernel's own key");
        assertFalse(all.get(3).has(MappingFlags.KEYED));
        assertEquals(0x7003000, all.get(3).start());
    }

    @Test
    void lockedOnFaultWhetherOrNotTheKernelSaysIt() {
        assertEquals("rd lo lf", MappingFlags.parse(mapping("7000", "r--p", 0, "", "rd lo")).getFirst().flags());
        assertEquals("rd lo lf", MappingFlags.parse(mapping("7000", "r--p", 2, "", "rd lo lf")).getFirst().flags());
        assertEquals("rd lo", MappingFlags.parse(mapping("7000", "r--p", 2, "", "rd lo")).getFirst().flags());
    }
}
