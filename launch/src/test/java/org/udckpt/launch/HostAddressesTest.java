package org.udckpt.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Closeable;
import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.udckpt.address.AddressMap;
import org.udckpt.address.Gid;
import org.udckpt.address.HostAddress;
import org.udckpt.address.RankSpan;
import org.udckpt.address.VerbsAddress;
import org.udckpt.support.report.Failure;

/** Devices go by the job's hosts, whichever of them an agent has. */
class HostAddressesTest {
    private static final HostLayout LAYOUT = HostLayout.parse("h0:2,h1:1,h2:1");
    private static final DeviceChoice DEVICES = new DeviceChoice(List.of("x", "y+z"));

    private static List<String> devices(RankSpan span) {
        try (HostAddresses hosts =
                HostAddresses.reserve(LAYOUT, span, DEVICES, new AddressMap(), List.of(), 1, "127.77")) {
            assertEquals(LAYOUT.hosts(span).stream().map(HostLayout.Host::name).toList(),
                    hosts.hosts().stream().map(HostAddress::name).toList());
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
        try (HostAddresses hosts =
                HostAddresses.reserve(LAYOUT, RankSpan.all(4), DEVICES, new AddressMap(), List.of(), 1, "127.77")) {
            assertEquals(hosts.of(0).lid(), hosts.of(3).lid());
        }
    }

    private static List<HostAddress> numbers(RankSpan span, AddressMap map, List<String> machines) {
        try (HostAddresses hosts = HostAddresses.reserve(LAYOUT, span, DEVICES, map, machines, 1, "127.77")) {
            assertEquals(hosts.hosts(), map.hosts());
            return hosts.hosts();
        }
    }

    /** x has four numbers, y+z eight. */
    @Test
    void agentsOfOtherMachinesComeToTheSameNumbers() {
        List<String> machines = List.of("a", "b", "c");
        assertEquals(List.of(new HostAddress("h0", 1, 4, 0, 0)),
                numbers(new RankSpan(0, 2, 4), new AddressMap(), machines));
        assertEquals(List.of(new HostAddress("h1", 5, 8, 0, 0)),
                numbers(new RankSpan(2, 1, 4), new AddressMap(), machines));
        assertEquals(List.of(new HostAddress("h2", 13, 4, 0, 0)),
                numbers(new RankSpan(3, 1, 4), new AddressMap(), machines));
    }

    @Test
    void laterIncarnationsHaveOtherNumbersAndHostsOfOneDeviceTheSame() {
        List<String> machines = List.of("a", "a", "a");
        AddressMap later = new AddressMap().nextIncarnation();
        assertEquals(List.of(new HostAddress("h0", 13, 4, 0, 0)), numbers(new RankSpan(0, 2, 4), later, machines));
        assertEquals(List.of(new HostAddress("h2", 13, 4, 0, 0)),
                numbers(new RankSpan(3, 1, 4), new AddressMap().nextIncarnation(), machines));
        assertEquals(List.of(new HostAddress("h2", 1, 4, 0, 0)),
                numbers(new RankSpan(3, 1, 4), new AddressMap().nextIncarnation().nextIncarnation(), machines));
    }

    /** What the job sees in its first incarnation has to be unique for ever. */
    @Test
    void twoHostsOfAFirstIncarnationShareNoDevice() {
        String said = assertThrows(Failure.class,
                () -> numbers(new RankSpan(0, 2, 4), new AddressMap(), List.of("a", "b", "a"))).getMessage();
        assertTrue(said.contains("host h2") && said.contains("device x"), said);
    }

    @Test
    void moreHostsThanNumbersAreRefused() {
        int many = AddressMap.LAST_LID / 4 + 1;
        HostLayout layout = new HostLayout(
                java.util.stream.IntStream.range(0, many).mapToObj(i -> new HostLayout.Host("h" + i, 1)).toList());
        List<String> machines = layout.hosts().stream().map(HostLayout.Host::name).toList();
        String said = assertThrows(Failure.class, () -> HostAddresses.reserve(layout, new RankSpan(0, 1, many),
                new DeviceChoice(List.of("x")), new AddressMap(), machines, 1, "127.77")).getMessage();
        assertTrue(said.contains(many + " hosts"), said);
    }

    /** On loopback, where an address says who sends; not on a network of hosts, nor of a real device. */
    @Test
    void theAddressOfAFormerQueuePairIsKeptFromOthers() throws Exception {
        HostLayout one = HostLayout.parse("h0:1");
        try (HostAddresses hosts = HostAddresses.reserve(one, RankSpan.all(1),
                new DeviceChoice(List.of(DeviceChoice.SOFT)), new AddressMap(), List.of(), 1, "127.77")) {
            int lid = hosts.of(0).lid();
            VerbsAddress gone = new VerbsAddress(lid, Gid.ZERO, 5000);
            InetSocketAddress place = new InetSocketAddress("127.77." + (lid >> 8) + "." + (lid & 255), 5000);
            Closeable kept = hosts.keep(gone);
            assertThrows(BindException.class, () -> new DatagramSocket(place).close());
            assertThrows(IOException.class, () -> hosts.keep(gone));
            kept.close();
            new DatagramSocket(place).close();
        }
    }
}
