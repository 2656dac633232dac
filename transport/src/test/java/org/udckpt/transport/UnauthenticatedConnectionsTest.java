package org.udckpt.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class UnauthenticatedConnectionsTest {
    private final TransportLimits limits = Nodes.quick(); // 16 places, 8 for one address
    private final UnauthenticatedConnections strangers = new UnauthenticatedConnections(limits);
    private long now = Long.MAX_VALUE - 5; // nanoTime may overflow
    private int port;

    private UnauthenticatedConnections.Verdict enter(String address) {
        return strangers.enter(new InetSocketAddress(address, ++port), null, now);
    }

    @Test
    void theOldestOfAnAddressMakesRoomForItsNext() {
        for (int i = 0; i < limits.strangersOfOne(); i++) {
            assertNull(enter("10.0.0.1").refusal());
        }
        assertTrue(enter("10.0.0.1").refusal().contains("8 of its connections"),
                "they have had no time for a handshake");
        now += UnauthenticatedConnections.SETTLED_NS;
        for (int i = 0; i < limits.strangersOfOne(); i++) {
            UnauthenticatedConnections.Verdict verdict = enter("10.0.0.1");
            assertNull(verdict.refusal());
            assertEquals(1 + i, verdict.loser().peer().getPort());
        }
        assertNotNull(enter("10.0.0.1").refusal(), "more in that time than there are places");
    }

    @Test
    void whoHasMostMakesRoomForOthers() {
        for (int i = 0; i < limits.strangersOfOne(); i++) {
            enter("10.0.0.1");
            enter("10.0.0.2");
        }
        assertTrue(enter("10.0.0.3").refusal().startsWith("16 connections"));
        now += UnauthenticatedConnections.SETTLED_NS;
        for (int i = 0; i < 4; i++) {
            UnauthenticatedConnections.Verdict verdict = enter("10.0.0." + (3 + i));
            assertNull(verdict.refusal());
            assertTrue(verdict.loser().peer().getAddress().getHostAddress().matches("10\\.0\\.0\\.[12]"));
        }
    }

    /** As the nodes of a large job at its start: their handshakes are not broken off for each other's. */
    @Test
    void manyAddressesWithOneEachKeepTheirPlacesForLonger() {
        for (int i = 0; i < limits.strangers(); i++) {
            assertNull(enter("10.0.1." + i).refusal());
        }
        now += UnauthenticatedConnections.SETTLED_NS;
        assertNotNull(enter("10.0.0.3").refusal());
        now += UnauthenticatedConnections.SLOW_NS;
        assertEquals(1, enter("10.0.0.3").loser().peer().getPort());
    }

    @Test
    void whoHasProvedItselfLeavesItsPlace() {
        for (int i = 0; i < 3 * limits.strangers(); i++) {
            assertNull(enter("10.0.0.1").refusal());
            assertNotNull(strangers.remove(new InetSocketAddress("10.0.0.1", port)));
            assertNull(strangers.remove(new InetSocketAddress("10.0.0.1", port)));
        }
    }
}
