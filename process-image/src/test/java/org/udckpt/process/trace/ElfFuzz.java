package org.udckpt.process.trace;

import org.udckpt.fuzz.Fuzzes;

/** Libraries that a process of the job has mapped, whoever wrote them. */
@Fuzzes({ElfSymbols.class, BuildId.class})
public final class ElfFuzz {
    private ElfFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        BuildId.of(input);
        try {
            ElfSymbols.find(input, "a library", "udckpt_attachment");
        } catch (IllegalArgumentException e) {
            // as promised
        }
        try {
            ElfSymbols.relocated(input, "a library");
        } catch (IllegalArgumentException e) {
            // as promised
        }
        try {
            ElfSymbols.functions(input, "a library");
        } catch (IllegalArgumentException e) {
            // as promised
        }
    }
}
