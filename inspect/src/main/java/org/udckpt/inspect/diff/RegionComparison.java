package org.udckpt.inspect.diff;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.inspect.view.RegionKind;
import org.udckpt.process.model.Region;

/** Compares the mappings of a process: those of one name that lie in the same place belong together. */
final class RegionComparison {
    /** What tells mappings apart: MAP_SHARED, and the path. */
    private record Name(boolean shared, String path) {}

    private final Map<Name, TreeMap<Long, Region>> older;
    private final Map<Name, TreeMap<Long, Region>> newer;

    RegionComparison(List<Region> older, List<Region> newer) {
        this.older = byName(older);
        this.newer = byName(newer);
    }

    private static Map<Name, TreeMap<Long, Region>> byName(List<Region> regions) {
        Map<Name, TreeMap<Long, Region>> named = new HashMap<>();
        regions.forEach(region -> named
                .computeIfAbsent(new Name(region.shared(), region.path()), _ -> new TreeMap<>(Long::compareUnsigned))
                .put(region.start(), region));
        return named;
    }

    /** Ascending by address. */
    List<RegionChange> changes() {
        List<RegionChange> changes = new ArrayList<>();
        newer.forEach((name, regions) -> regions.values().forEach(region -> {
            RegionChange change = changed(region, overlapping(older.get(name), region));
            if (change != null) {
                changes.add(change);
            }
        }));
        older.forEach((name, regions) -> regions.values().stream()
                .filter(region -> overlapping(newer.get(name), region).isEmpty())
                .forEach(region -> changes.add(change(RegionChange.Change.GONE, region, region.size(), 0))));
        changes.sort(Comparator.comparing(RegionChange::start, Long::compareUnsigned)
                .thenComparing(RegionChange::change, Comparator.reverseOrder()));
        return changes;
    }

    private static List<Region> overlapping(TreeMap<Long, Region> candidates, Region region) {
        if (candidates == null) {
            return List.of();
        }
        Long first = candidates.floorKey(region.start());
        return candidates.subMap(first == null ? region.start() : first, region.end()).values().stream()
                .filter(other -> Long.compareUnsigned(region.start(), other.end()) < 0).toList();
    }

    private static RegionChange changed(Region region, List<Region> before) {
        if (before.isEmpty()) {
            return change(RegionChange.Change.NEW, region, 0, region.size());
        }
        long size = before.stream().mapToLong(Region::size).sum();
        boolean same =
                size == region.size() && before.stream().mapToLong(Region::start).min().orElseThrow() == region.start();
        return same ? null
                : change(
                        size < region.size() ? RegionChange.Change.GROWN
                                : size > region.size() ? RegionChange.Change.SHRUNK : RegionChange.Change.MOVED,
                        region, size, region.size());
    }

    private static RegionChange change(RegionChange.Change change, Region region, long before, long after) {
        return new RegionChange(change, RegionKind.of(region), region.path(), region.start(), region.end(), before,
                after);
    }
}
