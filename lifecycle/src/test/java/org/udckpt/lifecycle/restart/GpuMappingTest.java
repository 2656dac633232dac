package org.udckpt.lifecycle.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.udckpt.process.cuda.Gpu;
import org.udckpt.process.cuda.GpuPair;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Which GPU of a host takes the place of which one of the checkpoint. */
class GpuMappingTest {
    private static Gpu gpu(int number, String kind, long memory) {
        return new Gpu(number, uuid(number), kind, memory);
    }

    private static String uuid(int number) {
        return "GPU-00000000-0000-0000-0000-%012d".formatted(number);
    }

    private static GpuPair pair(int before, int after) {
        return new GpuPair(uuid(before), uuid(after));
    }

    private static void assertRefused(String why, List<Gpu> before, List<Gpu> here, Map<String, String> wanted) {
        Failure refused = assertThrows(Failure.class, () -> GpuMapping.of(before, here, wanted));
        assertEquals(ExitCode.UNSUPPORTED, refused.code());
        assertTrue(refused.getMessage().contains(why), refused.getMessage());
    }

    @Test
    void theSameOnesNeedNoPairs() {
        List<Gpu> before = List.of(gpu(1, "a", 8), gpu(2, "a", 8));
        assertEquals(List.of(),
                GpuMapping.of(before, List.of(gpu(2, "a", 8), gpu(3, "a", 8), gpu(1, "a", 8)), Map.of()));
    }

    /** And each one of the checkpoint is in a pair, as the driver wants it. */
    @Test
    void othersAreTakenInOrderByKind() {
        List<Gpu> before = List.of(gpu(1, "a", 8), gpu(2, "b", 8), gpu(3, "a", 8));
        List<Gpu> here = List.of(gpu(3, "a", 8), gpu(4, "b", 4), gpu(5, "b", 9), gpu(6, "a", 8), gpu(7, "a", 8));
        assertEquals(Map.of(uuid(1), uuid(6), uuid(2), uuid(5), uuid(3), uuid(3)), GpuMapping.of(before, here, Map.of())
                .stream().collect(java.util.stream.Collectors.toMap(GpuPair::before, GpuPair::after)));
    }

    @Test
    void whatWasAskedForComesFirst() {
        List<Gpu> before = List.of(gpu(1, "a", 8), gpu(2, "a", 8));
        List<Gpu> here = List.of(gpu(1, "a", 8), gpu(2, "a", 8));
        assertEquals(List.of(pair(1, 2), pair(2, 1)),
                GpuMapping.of(before, here, Map.of(uuid(1), uuid(2), uuid(2), uuid(1))));
        assertRefused("another one's already", before, here, Map.of(uuid(1), uuid(2)));
        assertRefused("which this host has not", before, here, Map.of(uuid(1), uuid(9)));
    }

    @Test
    void otherKindsAndLessMemoryAreRefused() {
        List<Gpu> before = List.of(gpu(1, "a", 8));
        assertRefused("no GPU of this kind is left", before, List.of(gpu(2, "b", 8)), Map.of());
        assertRefused("no GPU of this kind is left", before, List.of(), Map.of());
        assertRefused("have less memory", before, List.of(gpu(2, "a", 7)), Map.of());
        assertRefused("is of another kind", before, List.of(gpu(1, "a", 8), gpu(2, "b", 8)), Map.of(uuid(1), uuid(2)));
    }
}
