package org.udckpt.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Loss, duplication and reordering on purpose: as often as asked for, and the same for the same seed. */
class SoftFabricFaultsTest {
    private static final int SENT = 1000;

    private static List<Integer> arrivals(String fault, int percent, int seed) throws Exception {
        Map<String, String> environment = new HashMap<>(Map.of("UDCKPT_SOFT_SEED", Integer.toString(seed)));
        if (fault != null)
            environment.put("UDCKPT_SOFT_" + fault, Integer.toString(percent));
        Native.Result result = Native.run(environment, Native.program("fabric_faults").toString());
        assertEquals(0, result.exit(), result::toString);
        return result.out().lines().map(Integer::valueOf).toList();
    }

    /** Within five standard deviations of a binomial distribution. */
    private static void assertAbout(int percent, int count) {
        double p = percent / 100.0, deviation = Math.sqrt(SENT * p * (1 - p));
        assertTrue(Math.abs(count - SENT * p) < 5 * deviation,
                () -> count + " of " + SENT + ", expected about " + percent + "%");
    }

    @Test
    void withoutFaultsAllArriveInOrder() throws Exception {
        assertEquals(IntStream.range(0, SENT).boxed().toList(), arrivals(null, 0, 1));
    }

    @Test
    void loss() throws Exception {
        List<Integer> first = arrivals("LOSS", 10, 42);
        assertAbout(10, SENT - first.size());
        assertEquals(first.stream().sorted().distinct().toList(), first);
        assertEquals(first, arrivals("LOSS", 10, 42));
        assertNotEquals(first, arrivals("LOSS", 10, 43));
        assertEquals(List.of(), arrivals("LOSS", 100, 42));
    }

    @Test
    void duplication() throws Exception {
        List<Integer> first = arrivals("DUPLICATE", 10, 42);
        assertAbout(10, first.size() - SENT);
        assertEquals(SENT, new HashSet<>(first).size());
        assertEquals(first, arrivals("DUPLICATE", 10, 42));
    }

    @Test
    void reordering() throws Exception {
        List<Integer> first = arrivals("REORDER", 10, 42);
        assertEquals(IntStream.range(0, SENT).boxed().toList(), first.stream().sorted().toList(),
                "nothing is lost or doubled");
        long overtaken = IntStream.range(1, SENT).filter(i -> first.get(i) < first.get(i - 1)).count();
        assertTrue(overtaken > 50 && overtaken < 120, () -> overtaken + " overtaken");
        assertEquals(first, arrivals("REORDER", 10, 42));
        assertNotEquals(first, arrivals("REORDER", 10, 43));
    }
}
