package org.udckpt.image.write;

import org.udckpt.fuzz.Fuzzes;
import org.udckpt.image.ImageError;

/** What the lead tells a node to write. */
@Fuzzes(PartOrder.class)
public final class PartOrderFuzz {
    private PartOrderFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        try {
            PartOrder.decode(input);
        } catch (ImageError e) {
            // as promised
        }
    }
}
