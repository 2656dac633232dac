package org.udckpt.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class HostGidsTest {
    private static final Gid LOCAL = new Gid(0xfe80L << 48, 1);
    private static final Gid IPV4 = new Gid(0, 0xffff_0a01_0001L);

    @Test
    void bothSidesAreTheirOwn() {
        AddressMap map = new AddressMap();
        map.host(false, 7, List.of(LOCAL, IPV4));
        map.host(true, 9, List.of(LOCAL, Gid.ZERO));
        assertEquals(OptionalInt.of(7), map.hostOf(false, LOCAL));
        assertEquals(OptionalInt.of(7), map.hostOf(false, IPV4));
        assertEquals(OptionalInt.of(9), map.hostOf(true, LOCAL));
        assertEquals(OptionalInt.empty(), map.hostOf(true, IPV4));
        assertEquals(OptionalInt.empty(), map.hostOf(true, Gid.ZERO), "an empty place of the table is nobody's");
    }

    @Test
    void ranksOfOneHostAgreeAndTwoHostsMayNotShare() {
        AddressMap map = new AddressMap();
        map.host(true, 7, List.of(LOCAL));
        map.host(true, 7, List.of(LOCAL, IPV4));
        IllegalStateException refused =
                assertThrows(IllegalStateException.class, () -> map.host(true, 8, List.of(IPV4)));
        assertTrue(refused.getMessage().contains(IPV4.toString()), refused.getMessage());
        assertEquals(OptionalInt.of(7), map.hostOf(true, IPV4));
    }

    @Test
    void aRestartForgetsThem() {
        AddressMap map = new AddressMap();
        map.host(true, 7, List.of(LOCAL));
        assertEquals(OptionalInt.empty(), map.nextIncarnation().hostOf(true, LOCAL));
    }
}
