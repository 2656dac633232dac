package org.udckpt.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.udckpt.process.model.JobImage;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Tables that no restart would read are refused when they are to be written. */
class ReadableTablesTest {
    @Test
    void aRowThatARestartWouldRefuseIsRefused() {
        JobImage none = OpenNode.nothing(0, "here").image(); // a job has a process
        Failure failure = assertThrows(Failure.class, () -> ImageTables.requireReadable(none, List.of()));
        assertEquals(ExitCode.UNSUPPORTED, failure.code());
        assertTrue(failure.getMessage().startsWith("a restart would refuse table processes, row 0: "),
                failure.getMessage());
    }
}
