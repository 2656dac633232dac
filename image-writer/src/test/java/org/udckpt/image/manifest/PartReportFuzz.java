package org.udckpt.image.manifest;

import org.udckpt.fuzz.Fuzzes;
import org.udckpt.image.ImageError;

/** What a node of the job says that it has written. */
@Fuzzes(PartReport.class)
public final class PartReportFuzz {
    private PartReportFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        try {
            PartReport.decode(input);
        } catch (ImageError e) {
            // as promised
        }
    }
}
