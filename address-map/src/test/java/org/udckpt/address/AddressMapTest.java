package org.udckpt.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(90)
class AddressMapTest {
    private static VerbsAddress address(int lid, int qpn) {
        return new VerbsAddress(lid, new Gid(0xfe80L << 48, lid), qpn);
    }

    @Test
    void theFirstIncarnationIsTheIdentity() {
        AddressMap map = new AddressMap();
        HostAddress host = map.newHost("a");
        Endpoint endpoint = map.register(0, 0, address(host.lid(), 0), address(host.lid(), host.qpnFirst()));
        assertEquals(endpoint.virtual(), endpoint.real());
        assertEquals(Optional.of(endpoint), map.byVirtual(host.lid(), host.qpnFirst()));
        assertEquals(Optional.of(endpoint), map.byReal(host.lid(), host.qpnFirst()));
    }

    @Test
    void nothingStaysOfAProcessThatHasEnded() {
        AddressMap map = new AddressMap();
        HostAddress host = map.newHost("a");
        Endpoint gone = map.register(1, 0, address(host.lid(), 0), address(host.lid(), host.qpnFirst()));
        Endpoint stays = map.register(2, 0, address(host.lid(), 0), address(host.lid(), host.qpnFirst() + 1));
        assertEquals(List.of(gone), map.forget(1));
        assertEquals(List.of(stays), map.endpoints());
        assertEquals(Optional.empty(), map.byReal(host.lid(), host.qpnFirst()));
    }

    @Test
    void nextIncarnationsKeepVirtualAddressesAndMoveRealOnes() throws IOException {
        AddressMap map = new AddressMap();
        HostAddress a = map.newHost("a");
        map.register(0, 0, address(a.lid(), 0), address(a.lid(), a.qpnFirst()));
        Set<Integer> previous = new HashSet<>(Set.of(a.lid()));
        for (int incarnation = 1; incarnation < 40; incarnation++) {
            AddressMap next = AddressMapFile.read(AddressMapFile.write(map)).nextIncarnation();
            assertEquals(incarnation, next.generation());
            assertEquals(Optional.empty(), next.byVirtual(a.lid(), a.qpnFirst()), "not reachable before its REGISTER");
            HostAddress host = next.newHost("b");
            assertFalse(previous.contains(host.lid()), "LID of the incarnation before");
            assertApart(map.hosts().getFirst(), host);
            Endpoint moved = next.register(0, a.qpnFirst(), address(a.lid(), 0), address(host.lid(), host.qpnFirst()));
            assertEquals(address(a.lid(), a.qpnFirst()), moved.virtual());
            assertTrue(RemapReport.of(map.endpoints(), next.endpoints()).allMoved());
            previous = new HashSet<>(Set.of(a.lid(), host.lid()));
            map = next;
        }
    }

    private static void assertApart(HostAddress before, HostAddress after) {
        assertTrue(before.qpnLast() < after.qpnFirst() || after.qpnLast() < before.qpnFirst(), before + ", " + after);
        assertTrue(after.qpnFirst() >= 1024 && after.qpnLast() <= 65535, "UDP ports: " + after);
    }

    @Test
    void savedAndLoadedMapsAreEqual() throws IOException {
        AddressMap map = new AddressMap();
        HostAddress a = map.newHost("node a");
        HostAddress b = map.newHost("b");
        map.register(0, 0, address(a.lid(), 0), address(a.lid(), 3000));
        map.register(1, 0, address(b.lid(), 0), address(b.lid(), 3000));
        AddressMap loaded = AddressMapFile.read(AddressMapFile.write(map));
        assertEquals(map.endpoints(), loaded.endpoints());
        assertEquals(map.hosts(), loaded.hosts());
        assertThrows(IOException.class, () -> AddressMapFile.read(new byte[100]));
    }

    @Test
    void aCopyIsEqualAndKeepsStillWhileTheMapGoesOn() {
        AddressMap map = new AddressMap().nextIncarnation();
        HostAddress host = map.newHost("a");
        map.register(0, 0, address(host.lid(), 0), address(host.lid(), 3000));
        AddressMap copy = map.copy();
        assertEquals(map.endpoints(), copy.endpoints());
        assertEquals(map.hosts(), copy.hosts());
        assertEquals(map.generation(), copy.generation());
        map.unregister(0, host.lid(), 3000);
        assertEquals(1, copy.endpoints().size());
        assertEquals(map.nextIncarnation().newHost("b"), copy.nextIncarnation().newHost("b"),
                "the next incarnation hands out the same addresses");
    }

    @Test
    void aNumberThatTheJobStillUsesIsNotGivenTwice() {
        AddressMap map = new AddressMap();
        Endpoint first = map.register(0, 0, address(1, 0), address(1, 3000));
        AddressMap next = map.nextIncarnation();
        next.register(0, 3000, address(1, 0), address(9, 7000));
        Endpoint second = next.register(0, 0, address(1, 0), address(9, 3000));
        assertNotEquals(first.virtual(), second.virtual());
        assertThrows(IllegalStateException.class, () -> next.register(1, 3000, address(1, 0), address(9, 7001)));
        assertEquals(Optional.empty(), next.unregister(1, 1, 3000), "of another rank");
        assertEquals(List.of(second), next.unregister(0, 1, 3000).map(gone -> next.endpoints()).orElseThrow());
    }
}
