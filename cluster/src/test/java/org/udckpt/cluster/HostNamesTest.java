package org.udckpt.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Addresses of RFC 5737, which no machine has, and names of RFC 6761, which none can have. */
class HostNamesTest {
    private static HostNames.Kinds kinds(List<String> others, List<String> nobodys) {
        return new HostNames.Kinds(others, nobodys);
    }

    @Test
    void machinesAreToldFromMereNames() {
        assertEquals(kinds(List.of("192.0.2.1", "198.51.100.7"), List.of()),
                HostNames.kinds(List.of("192.0.2.1", "198.51.100.7")));
        assertEquals(kinds(List.of("192.0.2.1"), List.of()), HostNames.kinds(List.of("localhost", "192.0.2.1")),
                "one of them is this machine");
        assertEquals(kinds(List.of(), List.of()), HostNames.kinds(List.of("127.0.0.1", "localhost")));
        assertEquals(kinds(List.of("192.0.2.1"), List.of("no-such-host.invalid")),
                HostNames.kinds(List.of("192.0.2.1", "no-such-host.invalid")), "is one of them a typo");
        assertEquals(kinds(List.of(), List.of("a.invalid", "b.invalid")),
                HostNames.kinds(List.of("a.invalid", "b.invalid")));
        assertEquals(kinds(List.of(), List.of("0", "1")), HostNames.kinds(List.of("0", "1")), "no addresses");
    }
}
