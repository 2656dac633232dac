package org.udckpt.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Hosts of several ports have a LID for each, and queue pairs find their number free at all of them. */
class HostPortsTest {
    @Test
    void blocksOfLidsDoNotOverlapOverIncarnations() throws Exception {
        AddressMap map = new AddressMap();
        HostAddress one = map.newHost("a", 4);
        HostAddress two = map.newHost("b", 4);
        assertTrue(one.lid() + one.lids() <= two.lid() || two.lid() + two.lids() <= one.lid());
        AddressMap next = AddressMapFile.read(AddressMapFile.write(map)).nextIncarnation();
        assertEquals(4, next.lidsOfAHost());
        HostAddress later = next.newHost("c", 4);
        for (HostAddress earlier : map.hosts()) {
            assertTrue(later.lid() + later.lids() <= earlier.lid() || earlier.lid() + earlier.lids() <= later.lid());
        }
    }

    @Test
    void aNumberOfALaterIncarnationIsFreeAtAllPorts() {
        AddressMap first = new AddressMap();
        HostAddress host = first.newHost("a", 2);
        first.register(0, 0, address(host.lid() + 1, 5000), address(host.lid() + 1, 5000));
        AddressMap next = first.nextIncarnation();
        HostAddress moved = next.newHost("a", 2);
        next.register(0, 5000, address(host.lid() + 1, 5000), address(moved.lid() + 1, 7000));
        Endpoint made = next.register(0, 0, address(host.lid(), 0), address(moved.lid(), 5000));
        assertNotEquals(5000, made.virtual().qpn(), "it could not go to the second port");
        next.unregister(0, host.lid() + 1, 5000);
        assertEquals(5000, next.register(0, 0, address(host.lid(), 0), address(moved.lid(), 5000)).virtual().qpn());
    }

    private static VerbsAddress address(int lid, int qpn) {
        return new VerbsAddress(lid, Gid.ZERO, qpn);
    }
}
