package org.udckpt.process.restore;

import java.util.List;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;

/** An address range that neither a stub nor any process of the job uses: for scratch memory and the parked vDSO. */
final class FreeRange {
    static final long BYTES = 1 << 20;
    private static final long FIRST = 0x1000_0000_0000L;

    private FreeRange() {}

    static long find(JobImage image, StubLayout stub) {
        long free = FIRST;
        for (long next; (next = conflict(free, image, stub.regions())) != 0;) {
            free = (next + BYTES - 1) / BYTES * BYTES;
        }
        return free;
    }

    /** Where to look next, or 0 when the range is free. */
    private static long conflict(long free, JobImage image, List<Region> stub) {
        for (List<Region> list : List.of(stub, image.regions())) {
            for (Region region : list) {
                // [vsyscall] lies in the upper, negative half
                if (region.start() > 0 && free < region.end() && free + BYTES > region.start()) {
                    return region.end();
                }
            }
        }
        for (ProcessState process : image.processes()) {
            long[] owned = process.ownedRanges();
            for (int i = 0; i < owned.length; i += 2) {
                if (free < owned[i + 1] && free + BYTES > owned[i]) {
                    return owned[i + 1];
                }
            }
        }
        return 0;
    }
}
