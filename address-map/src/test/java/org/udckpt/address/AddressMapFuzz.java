package org.udckpt.address;

import org.udckpt.fuzz.Fuzzes;
import org.udckpt.image.ImageError;

/** The address map in an image. */
@Fuzzes({AddressMapFile.class, AddressMapReader.class})
public final class AddressMapFuzz {
    private AddressMapFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        try {
            AddressMapFile.read(input);
        } catch (ImageError e) {
            // as promised
        }
    }
}
