package org.udckpt.inspect.diff;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.inspect.view.RegionKind;
import org.udckpt.process.model.Region;

/** Counts pages by the kind and name of the mapping in which they lie; of those that are gone, in which they lay. */
final class Groups implements MemoryComparison.Listener {
    private record Key(RegionKind kind, String name) {
        static final Key NONE = new Key(RegionKind.RESERVED, "");

        static Key of(Region region) {
            return new Key(RegionKind.of(region), region.path());
        }
    }

    private final TreeMap<Long, Region> older = new TreeMap<>(Long::compareUnsigned);
    private final TreeMap<Long, Region> newer = new TreeMap<>(Long::compareUnsigned);
    private final Map<Key, PageCounts> pages = new HashMap<>();

    Groups(List<Region> older, List<Region> newer) {
        older.forEach(region -> this.older.put(region.start(), region));
        newer.forEach(region -> this.newer.put(region.start(), region));
    }

    @Override
    public void range(long start, long end, MemoryComparison.Fate fate) {
        TreeMap<Long, Region> regions = fate == MemoryComparison.Fate.REMOVED ? older : newer;
        for (long at = start; at < end;) { // extents do not end where mappings do
            Map.Entry<Long, Region> entry = regions.floorEntry(at);
            boolean inside = entry != null && at < entry.getValue().end();
            Long next = regions.higherKey(at);
            long stop = Math.min(end, inside ? entry.getValue().end() : next == null ? end : next);
            pages.merge(inside ? Key.of(entry.getValue()) : Key.NONE, count(fate, (stop - at) / PageCounts.BYTES),
                    PageCounts::plus);
            at = stop;
        }
    }

    private static PageCounts count(MemoryComparison.Fate fate, long count) {
        return switch (fate) {
            case SAME -> new PageCounts(count, 0, 0, 0);
            case CHANGED -> new PageCounts(count, count, 0, 0);
            case ADDED -> new PageCounts(0, 0, count, 0);
            case REMOVED -> new PageCounts(0, 0, 0, count);
        };
    }

    /** The groups with stored pages, those that changed most first. */
    List<Group> list() {
        Map<Key, Long> before = sizes(older);
        Map<Key, Long> after = sizes(newer);
        List<Group> groups = new ArrayList<>();
        pages.forEach((key, count) -> groups.add(
                new Group(key.kind(), key.name(), before.getOrDefault(key, 0L), after.getOrDefault(key, 0L), count)));
        groups.sort(java.util.Comparator
                .comparingLong((Group group) -> group.pages().written() + group.pages().removed()).reversed()
                .thenComparing(Group::kind).thenComparing(Group::name));
        return groups;
    }

    private static Map<Key, Long> sizes(TreeMap<Long, Region> regions) {
        Map<Key, Long> sizes = new HashMap<>();
        regions.values().forEach(region -> sizes.merge(Key.of(region), region.size(), Long::sum));
        return sizes;
    }
}
