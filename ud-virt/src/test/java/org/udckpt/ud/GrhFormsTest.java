package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** InfiniBand's and RoCE's forms of the bytes before a UD message ({@code grh_forms.c}). */
@Timeout(60)
class GrhFormsTest {
    @Test
    void eachFormBecomesEachOther() throws Exception {
        passes("grh_forms");
    }

    /** The way back from a completion: the IPv4 header of RoCE version 2 stands in the second half of the 40 bytes. */
    @Test
    void addressHandlesAreMadeFromEachForm() throws Exception {
        passes("ah_from_wc");
    }

    private static void passes(String name) throws Exception {
        Path program = Path.of(System.getProperty("udckpt.native", "../native/target/cmake"), "virtualization", name);
        Process process = new ProcessBuilder(program.toString()).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertTrue(process.waitFor(30, TimeUnit.SECONDS), "still running");
        assertEquals(0, process.exitValue(), output);
    }
}
