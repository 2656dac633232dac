package org.udckpt.address;

import java.io.IOException;
import java.util.Arrays;
import org.udckpt.fuzz.Fuzzes;

/** Endpoints and keys between nodes: the first byte says which. */
@Fuzzes(AddressBatch.class)
public final class AddressBatchFuzz {
    private AddressBatchFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        byte[] bytes = Arrays.copyOfRange(input, 1, input.length);
        try {
            if ((input[0] & 1) == 0) {
                AddressBatch.endpoints(bytes);
            } else {
                AddressBatch.keys(bytes);
            }
        } catch (IOException e) {
            // as promised
        }
    }
}
