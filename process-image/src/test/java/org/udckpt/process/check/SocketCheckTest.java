package org.udckpt.process.check;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.Clocks;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.SocketLevel;
import org.udckpt.process.model.TcpOptions;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TcpSocket.TcpState;

/** Protocols that an image may name for its TCP sockets. */
class SocketCheckTest {
    private static final int SCTP = 132;

    private static JobImage image(TcpState state, int protocol) {
        byte[] name = {2, 0, 0x12, 0x34, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
        TcpSocket socket = new TcpSocket(3, 2, 2, state, 0, name, new byte[0], new byte[0], 0, 1,
                SocketLevel.ofProtocol(protocol, new int[0]), 0, 0, -1, 0, 0, "", "");
        return new JobImage(List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(),
                new Clocks(0, 0, 0), null, List.of(socket));
    }

    @Test
    void onlySocketsThatAreNotConnectedHaveMultipathTcp() {
        for (TcpState state : List.of(TcpState.UNCONNECTED, TcpState.LISTENING)) {
            assertDoesNotThrow(() -> new ObjectCheck(image(state, TcpOptions.IPPROTO_MPTCP), Set.of()).check(),
                    state::toString);
        }
        for (TcpState state : List.of(TcpState.PEER_CLOSED, TcpState.CLOSED)) {
            refused(state, TcpOptions.IPPROTO_MPTCP);
        }
        refused(TcpState.LISTENING, SCTP);
    }

    private static void refused(TcpState state, int protocol) {
        BrokenTable broken =
                assertThrows(BrokenTable.class, () -> new ObjectCheck(image(state, protocol), Set.of()).check());
        assertTrue(broken.getMessage().contains("protocol " + protocol), broken.getMessage());
    }
}
