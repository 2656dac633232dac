package org.udckpt.transport;

import org.udckpt.fuzz.Fuzzes;

/** A shipment of messages from another node. */
@Fuzzes(Envelope.class)
public final class EnvelopeFuzz {
    private EnvelopeFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        try {
            Envelope.decode(input).encode();
        } catch (IllegalArgumentException e) {
            // as promised
        }
    }
}
