package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** What a UDP socket collects is seen as it was given, in whatever pieces, and stays there. */
class UnsentDatagramTest {
    private static final int AF_INET = 2, SOCK_DGRAM = 2, MSG_MORE = 0x8000;
    private static final byte[] NAME = {AF_INET, 0, 0, 9, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};

    @Test
    void isSeenAndStays() throws Exception {
        assumeTrue(User.id() == 0, "only root can read it");
        int socket = PacketCalls.open(AF_INET, SOCK_DGRAM, 0);
        try {
            assertNull(UnsentDatagram.of(socket));
            byte[] all = new byte[60_000];
            for (int i = 0; i < all.length; i++) {
                all[i] = (byte) (i * 7 + i / 256);
            }
            int[] ends = {0, 1, 1000, 1000, 5000, 40_000, 60_000};
            for (int i = 1; i < ends.length; i++) {
                PacketCalls.send(socket, Arrays.copyOfRange(all, ends[i - 1], ends[i]), NAME, MSG_MORE);
                for (int look = 0; look < 2; look++) {
                    UnsentDatagram seen = UnsentDatagram.of(socket);
                    assertNotNull(seen, ends[i] + " bytes");
                    assertArrayEquals(Arrays.copyOf(all, ends[i]), seen.bytes(), ends[i] + " bytes");
                    assertArrayEquals(NAME, seen.to());
                }
            }
        } finally {
            Files.close(socket);
        }
    }
}
