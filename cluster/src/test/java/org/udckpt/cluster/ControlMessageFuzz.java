package org.udckpt.cluster;

import java.util.Arrays;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.fuzz.Fuzzes;

/** Control messages, and how nodes find each other: the first byte says which. */
@Fuzzes({ControlMessageCodec.class, Introduction.class})
public final class ControlMessageFuzz {
    private ControlMessageFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        byte[] bytes = Arrays.copyOfRange(input, 1, input.length);
        try {
            if ((input[0] & 1) == 0) {
                ControlMessageCodec.decode(bytes).encode();
            } else {
                Introduction.decode(bytes).encode();
            }
        } catch (MalformedMessage e) {
            // as promised
        }
    }
}
