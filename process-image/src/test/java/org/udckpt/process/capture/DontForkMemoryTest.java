package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.linux.MappingFlags;
import org.udckpt.process.model.Region;

/**
 * What a fork leaves out or empties is copied in the stop, but what the kernel may drop: that is empty in the image,
 * and keeps no snapshot from writing itself.
 */
@Timeout(120)
class DontForkMemoryTest {
    @Test
    void memoryThatIsWipedInForksHasItsContents() throws Exception {
        look("special_memory", (snapshot, regions) -> {
            List<Region> wiped =
                    regions.stream().filter(region -> has(region, MappingFlags.WIPED) && !region.droppable()).toList();
            assertTrue(!wiped.isEmpty(), "the program has memory that is wiped in forks");
            wiped.forEach(region -> assertTrue(snapshot.hasExtentIn(region.start(), region.end()),
                    () -> "no contents of %s in the image".formatted(region)));
            assertTrue(!snapshot.unforked().empty());
        });
    }

    @Test
    void whatTheKernelMayDropHasNone() throws Exception {
        look("random_state", (snapshot, regions) -> {
            List<Region> droppable = regions.stream().filter(Region::droppable).toList();
            assumeTrue(!droppable.isEmpty(), "this kernel's vDSO draws no random numbers");
            droppable.forEach(region -> assertTrue(!snapshot.hasExtentIn(region.start(), region.end()),
                    () -> "contents of %s in the image".formatted(region)));
            assertEquals(0, snapshot.unforked().extents().length);
        });
    }

    private interface Look {
        void at(Snapshot snapshot, List<Region> regions);
    }

    private static void look(String feature, Look look) throws Exception {
        try (Target target = Target.feature(feature, Target.LIBRARY);
                Capture capture = Capture.take(target.request())) {
            look.at((Snapshot) capture.sources().getFirst(), capture.image().regions());
        }
    }

    private static boolean has(Region region, String flag) {
        return (" " + region.vmFlags() + " ").contains(" " + flag + " ");
    }
}
