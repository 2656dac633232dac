package org.udckpt.job.nodes;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Addresses of RFC 5737, which no machine has, and names of RFC 6761, which none can have. */
class HostNamesTest {
    @Test
    void machinesAreToldFromMereNames() {
        assertTrue(HostNames.areOfOthers(List.of("192.0.2.1", "198.51.100.7")));
        assertTrue(HostNames.areOfOthers(List.of("localhost", "192.0.2.1")), "one of them is this machine");
        assertFalse(HostNames.areOfOthers(List.of("127.0.0.1", "localhost")));
        assertFalse(HostNames.areOfOthers(List.of("192.0.2.1", "no-such-host.invalid")), "a slip of the pen is nobody to be called by ssh");
        assertFalse(HostNames.areOfOthers(List.of("a.invalid", "b.invalid")));
        assertFalse(HostNames.areOfOthers(List.of("0", "1")), "no addresses");
    }
}
