package org.udckpt.inspect.diff;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.udckpt.process.model.Region;

/** Mappings that grow, move, are joined, split, come and go. */
class RegionComparisonTest {
    private static Region region(String path, long start, long end) {
        return new Region(1, start << 12, end << 12, "rw-p", 0, path, "", 0);
    }

    private static List<String> changes(List<Region> older, List<Region> newer) {
        return new RegionComparison(older, newer).changes().stream()
                .map(change -> change.change() + " " + change.name() + " " + (change.start() >> 12) + " "
                        + (change.olderBytes() >> 12) + "->" + (change.newerBytes() >> 12))
                .toList();
    }

    @Test
    void whatBecameOfThem() {
        List<Region> older = List.of(region("[heap]", 10, 20), region("/lib", 30, 40), region("", 50, 60),
                region("", 61, 63), region("", 70, 80), region("[stack]", 95, 99));
        List<Region> newer = List.of(region("[heap]", 10, 25), region("/lib", 30, 40), region("", 50, 63),
                region("", 72, 82), region("", 85, 86), region("[stack]", 93, 99));
        assertEquals(List.of("GROWN [heap] 10 10->15", "GROWN  50 12->13", "MOVED  72 10->10", "NEW  85 0->1",
                "GROWN [stack] 93 4->6"), changes(older, newer));
        assertEquals(List.of("SHRUNK [heap] 10 15->10", "SHRUNK  50 13->10", "SHRUNK  61 13->2", "MOVED  70 10->10",
                "GONE  85 1->0", "SHRUNK [stack] 95 6->4"), changes(newer, older));
        assertEquals(List.of(), changes(older, older));
        assertEquals(List.of("GONE /lib 30 10->0"), changes(List.of(region("/lib", 30, 40)), List.of()));
    }

    @Test
    void anotherNameInTheSamePlace() {
        assertEquals(List.of("GONE /a 30 10->0", "NEW /b 30 0->10"),
                changes(List.of(region("/a", 30, 40)), List.of(region("/b", 30, 40))));
    }
}
