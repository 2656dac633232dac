package org.udckpt.process.inherit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.StoredRange;
import org.udckpt.process.tree.TreeStep;

class InheritancePlanTest {
    private static final String FLAGS = "rd wr mr mw me ac";
    private static final long PAGE = 4096;

    private final List<TreeStep> steps = new ArrayList<>();
    private final Map<Integer, List<Region>> regions = new HashMap<>();
    private final Map<Integer, List<StoredRange>> stored = new HashMap<>();

    private InheritancePlan plan() {
        return InheritancePlan.of(steps, regions, pid -> stored.getOrDefault(pid, List.of()));
    }

    private void root(int pid) {
        steps.add(new TreeStep.Root(pid));
    }

    private void fork(int maker, int pid) {
        steps.add(new TreeStep.Fork(maker, pid, false));
    }

    private void mapped(int pid, long from, long to, String flags, String path) {
        regions.computeIfAbsent(pid, _ -> new ArrayList<>())
                .add(new Region(pid, from * PAGE, to * PAGE, "rw-p", 0, path, flags, 0));
    }

    /** Anonymous memory that is one range, stored in {@code block} from its address on. */
    private void holds(int pid, long from, long to, Object block) {
        mapped(pid, from, to, FLAGS, "");
        stored.computeIfAbsent(pid, _ -> new ArrayList<>())
                .add(new StoredRange(from * PAGE, to * PAGE, block, from * PAGE));
    }

    private static long[] pages(long... numbers) {
        long[] addresses = numbers.clone();
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] *= PAGE;
        }
        return addresses;
    }

    @Test
    void aChildKeepsWhatItHasInCommonWithItsParent() {
        root(10);
        fork(10, 11);
        holds(10, 0, 8, "a");
        mapped(11, 0, 8, FLAGS, "");
        stored.put(11, List.of(new StoredRange(0, 2 * PAGE, "a", 0), new StoredRange(2 * PAGE, 3 * PAGE, "b", 0),
                new StoredRange(3 * PAGE, 8 * PAGE, "a", 3 * PAGE)));
        InheritancePlan plan = plan();
        assertEquals(List.of(new Span(0, 8 * PAGE, MappingKind.of(regions.get(10).getFirst()))),
                plan.before(11).spans());
        assertArrayEquals(pages(0, 2, 3, 8), plan.of(11).kept());
        assertArrayEquals(pages(0, 2, 3, 8), plan.of(10).kept());
        assertArrayEquals(new long[0], plan.of(11).dropped());
        assertTrue(plan.of(11).has(regions.get(11).getFirst()));
    }

    @Test
    void theSameBytesAtAnotherPlaceInTheirBlockAreOthers() {
        root(10);
        fork(10, 11);
        holds(10, 0, 4, "a");
        mapped(11, 0, 4, FLAGS, "");
        stored.put(11, List.of(new StoredRange(0, 4 * PAGE, "a", PAGE)));
        assertTrue(plan().before(11).empty());
    }

    @Test
    void aSingleProcessIsNotAskedForItsMemory() {
        root(10);
        root(11);
        holds(10, 0, 4, "a");
        holds(11, 0, 4, "a");
        InheritancePlan plan = InheritancePlan.of(steps, regions, pid -> {
            throw new AssertionError("asked for the memory of " + pid);
        });
        assertEquals(Inherited.NOTHING, plan.of(10));
    }

    @Test
    void siblingsShareWhatTheirParentHasNot() {
        root(10);
        fork(10, 11);
        fork(10, 12);
        fork(10, 13);
        holds(10, 0, 4, "parent");
        holds(11, 0, 4, "old");
        holds(12, 0, 4, "old");
        holds(13, 0, 4, "own");
        InheritancePlan plan = plan();
        assertEquals(1, plan.before(11).contents().size());
        assertTrue(plan.before(12).empty());
        assertTrue(plan.before(13).empty());
        assertArrayEquals(pages(0, 4), plan.of(11).kept());
        assertArrayEquals(pages(0, 4), plan.of(12).kept());
        assertEquals(0, plan.of(10).kept().length);
        assertEquals(0, plan.of(13).regions().size());
    }

    @Test
    void childrenOfSeveralTimesShareWhatWasThereThen() {
        root(10);
        List.of(11, 12, 13, 14).forEach(child -> fork(10, child));
        holds(10, 0, 4, "new");
        holds(11, 0, 4, "old");
        holds(12, 0, 4, "old");
        holds(13, 0, 4, "new");
        holds(14, 0, 4, "new");
        InheritancePlan plan = plan();
        List.of(10, 11, 12, 13, 14)
                .forEach(pid -> assertArrayEquals(pages(0, 4), plan.of(pid).kept(), "process " + pid));
    }

    @Test
    void whatAParentHasGivenAwayItKeeps() {
        root(10);
        List.of(11, 12, 13).forEach(child -> fork(10, child));
        holds(10, 0, 4, "parent");
        holds(11, 0, 4, "parent");
        holds(12, 0, 4, "other");
        holds(13, 0, 4, "other");
        InheritancePlan plan = plan();
        assertArrayEquals(pages(0, 4), plan.of(10).kept());
        assertTrue(plan.before(12).empty());
    }

    @Test
    void grandchildrenAndTheirHelpersPassItOn() {
        root(10);
        steps.add(new TreeStep.Fork(10, -2, true));
        fork(-2, 11);
        steps.add(new TreeStep.Fork(10, -3, true));
        fork(-3, 12);
        mapped(10, 0, 1, FLAGS, "");
        holds(11, 4, 8, "orphans");
        holds(12, 4, 8, "orphans");
        InheritancePlan plan = plan();
        assertEquals(1, plan.before(-2).contents().size());
        assertTrue(plan.before(11).empty());
        assertArrayEquals(pages(4, 8), plan.of(12).kept());
        assertEquals(Inherited.NOTHING.regions(), plan.of(10).regions());
    }

    @Test
    void memoryThatForksDoNotShareIsNotInherited() {
        for (String flag : List.of("lo", "gd", "dd", "wf", "ht", "dp", "mg")) {
            InheritancePlanTest other = new InheritancePlanTest();
            other.root(10);
            other.fork(10, 11);
            for (int pid : List.of(10, 11)) {
                other.mapped(pid, 0, 4, FLAGS + " " + flag, "");
                other.stored.put(pid, List.of(new StoredRange(0, 4 * PAGE, "a", 0)));
            }
            assertTrue(other.plan().before(11).empty(), flag);
        }
    }

    @Test
    void mappingsOfDifferentKindsAreNotOne() {
        root(10);
        fork(10, 11);
        fork(10, 12);
        holds(10, 0, 4, "a");
        mapped(11, 0, 4, FLAGS, "/lib");
        mapped(12, 0, 4, FLAGS + " hg", "");
        stored.put(11, stored.get(10));
        stored.put(12, stored.get(10));
        InheritancePlan plan = plan();
        assertTrue(plan.before(11).empty());
        assertFalse(plan.of(12).has(regions.get(12).getFirst()));
    }

    /** Whatever the contents are, a process keeps only what is right, and all else that it has inherited goes. */
    @Test
    void carriesOutRight() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 500; round++) {
            InheritancePlanTest other = new InheritancePlanTest();
            other.randomTree(random);
            other.carryOut("seed " + seed + ", round " + round);
        }
    }

    private void randomTree(Random random) {
        root(10);
        int count = 2 + random.nextInt(5);
        for (int pid = 10; pid < 10 + count; pid++) {
            if (pid > 10) {
                fork(10 + random.nextInt(pid - 10), pid);
            }
            long from = random.nextInt(4);
            long to = 12 + random.nextInt(4);
            mapped(pid, from, to, FLAGS, "");
            List<StoredRange> own = new ArrayList<>();
            for (long page = from; page < to; page++) {
                if (random.nextInt(5) > 0) {
                    own.add(new StoredRange(page * PAGE, (page + 1) * PAGE, "block " + random.nextInt(3), page * PAGE));
                }
            }
            stored.put(pid, own);
        }
    }

    private void carryOut(String what) {
        InheritancePlan plan = plan();
        Map<Integer, Map<Long, Object>> memory = new HashMap<>();
        for (TreeStep step : steps) {
            if (step instanceof TreeStep.Root root) {
                memory.put(root.pid(), new HashMap<>());
            } else if (step instanceof TreeStep.Fork fork) {
                Map<Long, Object> maker = memory.get(fork.maker());
                for (Content content : plan.before(fork.pid()).contents()) {
                    for (long at = content.start(); at < content.end(); at += PAGE) {
                        maker.put(at, content.block());
                    }
                }
                memory.put(fork.pid(), new HashMap<>(maker));
            }
        }
        memory.forEach((pid, pages) -> check(pid, pages, plan.of(pid), what + ", process " + pid));
    }

    private void check(int pid, Map<Long, Object> pages, Inherited inherited, String what) {
        Map<Long, Object> wanted = new HashMap<>();
        stored.get(pid).forEach(range -> wanted.put(range.start(), range.block()));
        for (Region region : regions.get(pid)) {
            for (long at = region.start(); at < region.end() && inherited.has(region); at += PAGE) {
                boolean kept = in(inherited.kept(), at);
                boolean dropped = in(inherited.dropped(), at);
                assertFalse(kept && dropped, what);
                assertEquals(kept ? wanted.get(at) : null, dropped || !pages.containsKey(at) ? null : pages.get(at),
                        what + ", page " + at / PAGE);
            }
        }
    }

    private static boolean in(long[] ranges, long at) {
        for (int i = 0; i < ranges.length; i += 2) {
            if (ranges[i] <= at && at < ranges[i + 1]) {
                return true;
            }
        }
        return false;
    }
}
