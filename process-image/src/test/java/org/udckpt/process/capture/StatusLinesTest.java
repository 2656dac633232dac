package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.udckpt.linux.Proc;

/**
 * Reads lines of /proc/PID/status, also of other processors and kernels, and verifies that this kernel has no new ones.
 */
class StatusLinesTest {
    private static final String STATUS = Proc.text("/proc/self/status");

    /**
     * Where this fails, the kernel is newer than docs/internals/attributes.md: add what becomes of the new line, and
     * its name.
     */
    @Test
    void thisKernelHasNoOther() {
        assertEquals(List.of(), StatusLines.UNKNOWN);
        assertEquals(List.of("Nice_New_Thing"), StatusLines.unknown(STATUS + "Nice_New_Thing:\t7\n"));
    }

    @Test
    void shadowStacksAndTagsAreRefused() {
        assertNull(refusal(STATUS));
        assertTrue(refusal(STATUS.replaceAll("(?m)^untag_mask:.*$", "") + "untag_mask:\t0x81ffffffffffffff\n")
                .contains("addresses with tags"));
        assertTrue(refusal(STATUS + "x86_Thread_features:\tshstk wrss \n").contains("shadow stack"));
        assertNull(refusal(STATUS + "x86_Thread_features:\t\n"));
    }

    @Test
    void speculationAsThePrctlSaysIt() {
        String[][] bypass = {{"thread vulnerable", "0"}, {"thread mitigated", "4"}, {"thread force mitigated", "8"},
                {"vulnerable", "16"}};
        String origin =
                "Name:\tx\nSpeculation_Store_Bypass:\tthread vulnerable\nSpeculationIndirectBranch:\tconditional "
                        + "enabled\n";
        for (String[] one : bypass) {
            assertEquals(Integer.parseInt(one[1]), storeBypass(origin.replace("thread vulnerable", one[0]), origin),
                    one[0]);
        }
        String[][] branch =
                {{"conditional enabled", "0"}, {"conditional disabled", "4"}, {"conditional force disabled", "8"}};
        for (String[] one : branch) {
            assertEquals(Integer.parseInt(one[1]),
                    indirectBranch(origin.replace("conditional enabled", one[0]), origin), one[0]);
        }
        assertEquals(2, storeBypass(origin, origin.replace("thread vulnerable", "thread mitigated")));
        assertEquals(0, storeBypass("Name:\tx\n", origin), "a kernel that does not say");
    }

    private static String refusal(String status) {
        return StatusLines.refusal(new TaskStatus(status));
    }

    private static int storeBypass(String status, String origin) {
        return StatusLines.storeBypass(new TaskStatus(status), new TaskStatus(origin));
    }

    private static int indirectBranch(String status, String origin) {
        return StatusLines.indirectBranch(new TaskStatus(status), new TaskStatus(origin));
    }
}
