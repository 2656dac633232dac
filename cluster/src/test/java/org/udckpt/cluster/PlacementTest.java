package org.udckpt.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.udckpt.launch.HostLayout;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Where units go, and that none is parted. */
class PlacementTest {
    private static final List<Unit> UNITS =
            List.of(new Unit("a", "a", 0, 2), new Unit("b", "b", 2, 2), new Unit("c", "c", 4, 1));

    private static List<String> over(String hosts) {
        return hosts(Placement.over(hosts, UNITS, PlacementTest::ties));
    }

    private static List<String> hosts(List<Unit> units) {
        return units.stream().map(Unit::host).toList();
    }

    private static String ties(Unit unit) {
        return unit.ranks() + " share a thing";
    }

    private static Failure refused(ExitCode code, Runnable action) {
        Failure failure = assertThrows(Failure.class, action::run);
        assertEquals(code, failure.code(), failure.getMessage());
        return failure;
    }

    @Test
    void soManyHostsAreSpares() {
        Settings settings = Settings.load().flag(Option.SPARES, "2");
        assertTrue(refused(ExitCode.USAGE, () -> SpareHosts.names(settings)).getMessage()
                .contains("--spares 2: a number needs --hosts or a Slurm allocation"));
        assertTrue(refused(ExitCode.USAGE, () -> SpareHosts.aside(settings, "a,b")).getMessage()
                .contains("of 2 hosts (a,b) no host is left for ranks"));
        assertEquals("a:4,b", SpareHosts.aside(settings, "a:4,b,c:4,d"));
        assertEquals(List.of("c", "d"), SpareHosts.names(settings));
        assertEquals("x,y", SpareHosts.aside(settings, "x,y"), "they have names now");
        assertEquals(List.of(), SpareHosts.names(Settings.load().flag(Option.SPARES, "")));
        assertEquals("n1:3",
                SpareHosts.aside(Settings.load().flag(Option.SPARES, "1"), HostLayout.parse("n1:3,n2:3")).format());
    }

    @Test
    void sparesHaveNoRanks() {
        Settings settings = Settings.load().flag(Option.SPARES, "s,t");
        SpareHosts.check(settings, List.of("a", "b"));
        assertTrue(refused(ExitCode.USAGE, () -> SpareHosts.check(settings, List.of("a", "t"))).getMessage()
                .contains("--spares s,t: t has ranks of the job"));
        assertTrue(refused(ExitCode.USAGE, () -> SpareHosts.check(Settings.load().flag(Option.SPARES, "s,s"),
                List.of())).getMessage().contains("a host appears twice"));
    }

    @Test
    void unitsFillHostsInOrder() {
        assertEquals(List.of("x", "x", "y"), over("x,y"));
        assertEquals(List.of("x", "x", "x"), over("x"));
        assertEquals(List.of("x", "y", "y"), over("x:2,y:3"));
        assertEquals(List.of("y", "y", "y"), over("x:1,y"));
        assertEquals(List.of("z", "b", "z"), hosts(Placement.mapped("a=z,c=z", UNITS)));
        assertEquals(List.of("a", "s", "c"),
                hosts(Placement.without(Set.of("b"), UNITS, new java.util.ArrayList<>(List.of("s")))));
        assertEquals(List.of("s", "s", "s"),
                hosts(Placement.without(Set.of("a", "b", "c"), UNITS, new java.util.ArrayList<>(List.of("s")))));
        assertEquals(List.of("s", "t", "c"),
                hosts(Placement.without(Set.of("a", "b"), UNITS, new java.util.ArrayList<>(List.of("s", "t")))));
        assertEquals(List.of("s", "b", "b"),
                hosts(Placement.without(Set.of("a", "c"), UNITS, new java.util.ArrayList<>(List.of("s")))));
    }

    @Test
    void whatIsSharedIsNamedWhereAUnitHasNoRoom() {
        Failure failure = refused(ExitCode.USAGE, () -> over("w:1,x:1,y:1,z:1,q:1"));
        assertTrue(failure.getMessage().contains(
                "no room for ranks 0 to 1, which stay together (--keep-together): they were on one host (a), where "
                        + "ranks 0 to 1 share a thing")
                && failure.getMessage().contains("room for 2 more ranks"), failure.getMessage());
        Failure last = refused(ExitCode.USAGE, () -> over("x:2,y:2"));
        assertTrue(last.getMessage().contains("no room for rank 4: add a host with room for 1 more rank"),
                last.getMessage());
        Failure parted = refused(ExitCode.UNSUPPORTED, () -> Placement.refuseParting(UNITS, PlacementTest::ties));
        assertTrue(parted.getMessage().contains("ranks 0 to 1 cannot be separated")
                && parted.getMessage().contains("share a thing"), parted.getMessage());
        Placement.refuseParting(List.of(new Unit("c", "c", 0, 1)), PlacementTest::ties); // nothing to part
    }

    /** y has room for c alone: what is left is for x, whose share would be less. */
    @Test
    void aHostWithoutANumberTakesWhatOthersHaveNoRoomFor() {
        assertEquals(List.of("x", "x", "y"), over("x,y:1"));
        List<Unit> pairs = List.of(new Unit("a", "a", 0, 2), new Unit("b", "b", 2, 2), new Unit("c", "c", 4, 2));
        assertEquals(List.of("x", "x", "x"), hosts(Placement.over("x,y:1", pairs, PlacementTest::ties)));
        assertEquals(List.of("x", "y", "y"), hosts(Placement.over("x:2,y:4", pairs, PlacementTest::ties)));
    }

    @Test
    void aHostsRanksMayBeSeveralUnits() {
        HostLayout hosts = HostLayout.parse("a:5,b:2,c:1", null);
        assertEquals(List.of(new Unit("a", "a", 0, 5), new Unit("b", "b", 5, 2), new Unit("c", "c", 7, 1)),
                Placement.begin(hosts, Integer.MAX_VALUE));
        assertEquals(List.of(new Unit("a.0", "a", 0, 3), new Unit("a.1", "a", 3, 2), new Unit("b", "b", 5, 2),
                new Unit("c", "c", 7, 1)), Placement.begin(hosts, 3));
        assertEquals(List.of("a.0", "a.1", "a.2", "a.3", "a.4", "b.0", "b.1", "c"),
                Placement.begin(hosts, 1).stream().map(Unit::name).toList());
        assertTrue(refused(ExitCode.USAGE, () -> Placement.begin(HostLayout.parse("a:2,a.1:1", null), 1)).getMessage()
                .contains("host a.1 has the same name as a unit"));
    }

    @Test
    void unitsGoWhereThereIsRoomForThem() {
        List<Unit> uneven = List.of(new Unit("a", "a", 0, 8), new Unit("b", "b", 8, 4));
        assertEquals(List.of("n2", "n1"),
                hosts(Placement.fitting(HostLayout.parse("n1:4,n2:8", null), uneven).orElseThrow()));
        List<Unit> smallFirst = List.of(new Unit("a", "a", 0, 2), new Unit("b", "b", 2, 4));
        assertEquals(List.of("n2", "n1"),
                hosts(Placement.fitting(HostLayout.parse("n1:4,n2:2", null), smallFirst).orElseThrow()));
        assertEquals(Optional.empty(), Placement.fitting(HostLayout.parse("n1:5,n2:5", null), uneven));
    }

    /** After a restart unit a is on n, and unit b on the host of that name: what is on host a moves, and only that. */
    @Test
    void aHostIsMeantBeforeAUnitThatHasLeftIt() {
        List<Unit> now = List.of(UNITS.get(0).on("n"), UNITS.get(1).on("a"), UNITS.get(2));
        assertEquals(List.of("n", "z", "c"), hosts(Placement.mapped("a=z", now)));
        assertEquals(List.of("n", "z", "c"), hosts(Placement.mapped("b=z", now)),
                "no unit is on a host b: the unit is meant");
    }

    @Test
    void whatIsNoPlaceIsRefused() {
        for (String hosts : List.of("", "x,,y", "x,x", "-x", "x y")) {
            refused(ExitCode.USAGE, () -> over(hosts));
        }
        for (Map.Entry<String, String> map : Map.of("nobody=x", "no ranks on 'nobody'", "a", "is not OLD=NEW", "a=-x",
                "is not OLD=NEW", "a=x,a=y", "'a' appears twice").entrySet()) {
            Failure failure = refused(ExitCode.USAGE, () -> Placement.mapped(map.getKey(), UNITS));
            assertTrue(failure.getMessage().contains(map.getValue()), failure.getMessage());
        }
    }
}
