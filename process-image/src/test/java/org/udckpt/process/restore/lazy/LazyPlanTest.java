package org.udckpt.process.restore.lazy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.udckpt.process.model.Region;

class LazyPlanTest {
    private static final long MIB = 1 << 20;
    private static final String PLAIN = "rd wr mr mw me ac";

    private static Region region(int megabyte, String permissions, String path, String flags, long backing) {
        return new Region(1, megabyte * MIB, (megabyte + 2) * MIB, permissions, 0, path, flags, backing);
    }

    @Test
    void onlyPlainPrivateMemoryWaits() {
        List<Region> regions = List.of(
                region(0, "rw-p", "", PLAIN, 0),
                region(2, "rw-p", "[heap]", PLAIN, 0),
                region(4, "---p", "", "mr mw me", 0),
                region(6, "rw-p", "", PLAIN + " hg", 0),
                region(8, "rw-p", "[stack]", PLAIN + " gd", 0),
                region(10, "rw-p", "", PLAIN + " lo", 0),
                region(12, "rw-p", "", PLAIN + " wf", 0),
                region(14, "rw-p", "/lib/libc.so.6", PLAIN, 0),
                region(16, "rw-s", "/dev/shm/x", PLAIN, 7),
                region(18, "rw-p", "/anon_hugepage", PLAIN + " ht", 0),
                region(20, "r-xp", "[vdso]", "", 0));
        LazyPlan plan = LazyPlan.of(regions, new long[]{0, 30 * MIB}, MIB);
        assertEquals(List.of(0L, 2 * MIB, 4 * MIB, 6 * MIB), plan.regions().stream().map(Region::start).toList());
        assertEquals(8 * MIB, plan.bytes(new long[]{0, 30 * MIB}));
    }

    @Test
    void aMappingWithLittleInItDoesNotWait() {
        List<Region> regions = List.of(region(0, "rw-p", "", PLAIN, 0), region(4, "rw-p", "", PLAIN, 0));
        long[] extents = {0, 4096, 4096 * 2, 4096 * 3, 3 * MIB, 7 * MIB};
        LazyPlan plan = LazyPlan.of(regions, extents, MIB);
        assertEquals(List.of(4 * MIB), plan.regions().stream().map(Region::start).toList());
        Missing missing = plan.missing(extents);
        assertEquals(2 * MIB, missing.bytes());
        assertEquals(4 * MIB, missing.next(0).start());
        assertEquals(3 * MIB, missing.next(0).origin(), "the piece began before the mapping");
    }
}
