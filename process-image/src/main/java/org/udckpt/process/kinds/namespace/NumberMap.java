package org.udckpt.process.kinds.namespace;

/** Numbers of users or groups in a user namespace: triples of the first inside, the first outside, and how many. */
final class NumberMap {
    private NumberMap() {}

    /** Whether a number outside has one inside. */
    static boolean has(int[] map, int outside) {
        for (int i = 0; i < map.length; i += 3) {
            if (Integer.compareUnsigned(outside - map[i + 1], map[i + 2]) < 0) {
                return true;
            }
        }
        return false;
    }

    /** What a number outside is inside. @throws IllegalArgumentException nothing */
    static long inside(int[] map, int outside) {
        for (int i = 0; i < map.length; i += 3) {
            long offset = Integer.toUnsignedLong(outside) - Integer.toUnsignedLong(map[i + 1]);
            if (offset >= 0 && offset < Integer.toUnsignedLong(map[i + 2])) {
                return Integer.toUnsignedLong(map[i]) + offset;
            }
        }
        throw new IllegalArgumentException("no number for " + Integer.toUnsignedString(outside));
    }
}
