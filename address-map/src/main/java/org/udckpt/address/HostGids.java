package org.udckpt.address;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** Which host has which GID, on one side of the translation. Not thread-safe. */
final class HostGids {
    private final Map<Gid, Integer> numbers = new HashMap<>();

    /** Records the GIDs of a host; empty places of its table (zero) are nobody's. */
    void put(int number, List<Gid> gids) {
        for (Gid gid : gids) {
            Integer before = gid.equals(Gid.ZERO) ? null : numbers.get(gid);
            if (before != null && before != number) {
                throw new IllegalStateException(("GID %s is at host %d, and now also at host %d: give each device to "
                        + "only one host")
                        .formatted(gid, before, number));
            }
        }
        gids.stream().filter(gid -> !gid.equals(Gid.ZERO)).forEach(gid -> numbers.put(gid, number));
    }

    OptionalInt find(Gid gid) {
        Integer number = numbers.get(gid);
        return number == null ? OptionalInt.empty() : OptionalInt.of(number);
    }
}
