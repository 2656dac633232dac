package org.udckpt.job.nodes;

import java.util.Arrays;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.job.tree.MalformedMessage;

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
