package org.udckpt.process.names;

import org.udckpt.linux.RawText;

/** Names of unix sockets of which no file tells (unix(7)); a network namespace has each once. */
public final class AbstractNames {
    private AbstractNames() {}

    /** @throws NameRefused somebody has it */
    public static void check(byte[] name) {
        String holder = Holders.still(() -> Holders.ofAbstractName(name));
        if (holder != null) {
            throw new NameRefused(NameRefused.Reason.IN_USE,
                    "the abstract unix socket name " + RawText.decode(name).replace('\0', '@')
                            + ", which the job had, is in use by " + holder + "; end it first");
        }
    }
}
