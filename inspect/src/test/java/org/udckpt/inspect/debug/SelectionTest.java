package org.udckpt.inspect.debug;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Directories and processes on one command line. */
class SelectionTest {
    @Test
    void processesAreNoDirectories() {
        for (String text : List.of("0", "0,3", "pid:4711", "1,pid:2,3")) {
            assertTrue(Selection.matches(text), text);
            assertEquals(text, Selection.parse(text).toString());
        }
        for (String text : List.of("", "images", "./0", "/0", "0,", ",0", "pid:", "0 1", "-1", "1234567890", "pid:x")) {
            assertFalse(Selection.matches(text), text);
            assertEquals(ExitCode.USAGE, assertThrows(Failure.class, () -> Selection.parse(text)).code());
        }
    }
}
