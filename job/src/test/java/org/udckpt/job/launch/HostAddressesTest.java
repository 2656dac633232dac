package org.udckpt.job.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.udckpt.address.AddressMap;
import org.udckpt.address.RankSpan;

/** Devices go by the job's hosts, whichever of them an agent has. */
class HostAddressesTest {
    private static final HostLayout LAYOUT = HostLayout.parse("h0:2,h1:1,h2:1");
    private static final DeviceChoice DEVICES = new DeviceChoice(List.of("x", "y+z"));

    private static List<String> devices(RankSpan span) {
        try (HostAddresses hosts = HostAddresses.reserve(LAYOUT, span, DEVICES, new AddressMap(), 1, "127.77")) {
            assertEquals(LAYOUT.hosts(span).stream().map(HostLayout.Host::name).toList(), hosts.hosts().stream().map(org.udckpt.address.HostAddress::name).toList());
            return span.ranks().mapToObj(hosts::device).toList();
        }
    }

    @Test
    void anAgentOfSeveralCountsAsOneOfAllDoes() {
        assertEquals(List.of("x", "x", "y+z", "x"), devices(RankSpan.all(4)));
        assertEquals(List.of("x", "x"), devices(new RankSpan(0, 2, 4)));
        assertEquals(List.of("y+z"), devices(new RankSpan(2, 1, 4)));
        assertEquals(List.of("x"), devices(new RankSpan(3, 1, 4)));
    }

    /** Hosts that share a device share its number: a GID must lead to one. */
    @Test
    void aDeviceHasOneNumber() {
        try (HostAddresses hosts = HostAddresses.reserve(LAYOUT, RankSpan.all(4), DEVICES, new AddressMap(), 1, "127.77")) {
            assertEquals(hosts.of(0).lid(), hosts.of(3).lid());
        }
    }
}
