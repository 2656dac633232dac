package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.udckpt.linux.Proc;

/** A status that is looked at many times says each time what the text says, in whatever order it is asked. */
class TaskStatusTest {
    @Test
    void fieldsInAnyOrder() {
        TaskStatus status =
                new TaskStatus("Name:\ta b \nUid:\t1\t2\nSeccomp:\t0\nSeccomp_filters:\t3\nEmpty:\t\nLast:\tx");
        for (String[] one : new String[][]{{"Last:", "x"}, {"Name:", "a b"}, {"Seccomp_filters:", "3"},
                {"Seccomp:", "0"}, {"Empty:", ""},
                {"Uid:", "1\t2"}, {"Uid:", "1\t2"}, {"Gid:", null}, {"Last:", "x"}}) {
            assertEquals(one[1], status.field(one[0]), one[0]);
        }
        assertNull(new TaskStatus("").field("Name:"));
    }

    @Test
    void agreesUnlessTheOtherLacksIt() {
        TaskStatus one = new TaskStatus("Uid:\t1\nGid:\t2\n");
        assertTrue(one.agrees("Uid:", new TaskStatus("Name:\tx\nUid:\t1\nGid:\t3\n")));
        assertFalse(one.agrees("Gid:", new TaskStatus("Uid:\t1\nGid:\t22\n")));
        assertFalse(one.agrees("Gid:", new TaskStatus("Uid:\t1\n")));
        assertTrue(one.agrees("Groups:", new TaskStatus("Groups:\t4\n")),
                "what this one does not tell is no difference");
    }

    @Test
    void readsWhatTheKernelTells() {
        String text = Proc.text("/proc/self/status");
        TaskStatus status = new TaskStatus(text);
        for (String line : text.split("\n")) {
            String key = line.substring(0, line.indexOf(':') + 1);
            assertEquals(Proc.field(text, key), status.field(key), key);
        }
    }
}
