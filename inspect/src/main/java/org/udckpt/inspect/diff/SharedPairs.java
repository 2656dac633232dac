package org.udckpt.inspect.diff;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.SharedMemory;

/**
 * Which shared object of one checkpoint is which of another: their ids are new in each. Those that the same process
 * maps at the same address, and among the rest those of the same kind and name, in order.
 */
final class SharedPairs {
    private record Place(int pid, long address) {}

    private record Pair(SharedMemory older, SharedMemory newer) {}

    private final List<Pair> pairs = new ArrayList<>();

    interface Consumer {
        void pair(SharedMemory older, SharedMemory newer);
    }

    SharedPairs(JobImage older, JobImage newer) {
        List<SharedMemory> left = new ArrayList<>(objects(older));
        List<SharedMemory> right = new ArrayList<>(objects(newer));
        match(left, right, places(older), places(newer));
        match(left, right, names(left), names(right));
        left.forEach(object -> pairs.add(new Pair(object, null)));
        right.forEach(object -> pairs.add(new Pair(null, object)));
    }

    /** Either may be null, not both. */
    void forEach(Consumer consumer) {
        for (Pair pair : pairs) {
            consumer.pair(pair.older(), pair.newer());
        }
    }

    private static List<SharedMemory> objects(JobImage image) {
        return image.objects().stream().filter(SharedMemory.class::isInstance).map(SharedMemory.class::cast).toList();
    }

    /** Takes what matches out of both lists. */
    private <K> void match(List<SharedMemory> left, List<SharedMemory> right, Map<Long, K> leftKeys,
            Map<Long, K> rightKeys) {
        Map<K, SharedMemory> byKey = new HashMap<>();
        right.stream().filter(object -> rightKeys.containsKey(object.id()))
                .forEach(object -> byKey.putIfAbsent(rightKeys.get(object.id()), object));
        for (SharedMemory object : List.copyOf(left)) {
            K key = leftKeys.get(object.id());
            SharedMemory other = key == null ? null : byKey.remove(key);
            if (other != null) {
                pairs.add(new Pair(object, other));
                left.remove(object);
                right.remove(other);
            }
        }
    }

    /** Where each is first mapped: in the process with the lowest pid, at its first address. */
    private static Map<Long, Place> places(JobImage image) {
        Map<Long, Place> places = new HashMap<>();
        image.regions().stream().filter(region -> region.backing() != 0)
                .sorted(Comparator.comparingInt(Region::pid).thenComparingLong(Region::start))
                .forEach(region -> places.putIfAbsent(region.backing(), new Place(region.pid(), region.start())));
        return places;
    }

    private static Map<Long, String> names(List<SharedMemory> objects) {
        Map<String, Integer> seen = new HashMap<>();
        Map<Long, String> names = new LinkedHashMap<>();
        for (SharedMemory object : objects) {
            String name = object.kind() + " " + object.path() + " " + object.key();
            names.put(object.id(), name + " " + seen.merge(name, 1, Integer::sum));
        }
        return names;
    }
}
