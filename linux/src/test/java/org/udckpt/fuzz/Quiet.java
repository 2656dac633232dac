package org.udckpt.fuzz;

import java.io.OutputStream;
import java.io.PrintStream;

/** For targets whose parsers complain on standard error, some thousand times a second. */
public final class Quiet {
    private Quiet() {}

    /**
     * Nothing is said from here on, where a fuzzer runs ({@code -Dudckpt.fuzzing=true}); what it says itself goes on.
     */
    public static void begin() {
        if (Boolean.getBoolean("udckpt.fuzzing")) {
            System.setErr(new PrintStream(OutputStream.nullOutputStream()));
        }
    }
}
