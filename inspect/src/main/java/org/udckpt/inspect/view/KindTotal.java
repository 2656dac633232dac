package org.udckpt.inspect.view;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** All mappings of one kind: how many, their bytes of address space, and those that the image holds. */
public record KindTotal(RegionKind kind, int regions, long bytes, long stored) {
    /** By kind, in the order of {@link RegionKind}. */
    public static List<KindTotal> of(List<RegionView> regions) {
        Map<RegionKind, KindTotal> totals = new TreeMap<>();
        regions.forEach(view -> totals.merge(view.kind(),
                new KindTotal(view.kind(), 1, view.region().size(), view.stored()), KindTotal::plus));
        return List.copyOf(totals.values());
    }

    private KindTotal plus(KindTotal other) {
        return new KindTotal(kind, regions + other.regions, bytes + other.bytes, stored + other.stored);
    }
}
