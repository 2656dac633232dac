package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.linux.MappingFlags;
import org.udckpt.process.model.Region;

/** What a fork leaves out is copied in the stop, and only that: memory which is empty in forks is empty in the image, and keeps no snapshot from writing itself. */
@Timeout(120)
class UnforkedTest {
    @ParameterizedTest
    @CsvSource({"random_state, false", "memory_advice, true"})
    void onlyWhatIsMissing(String feature, boolean copies) throws Exception {
        try (Target target = Target.feature(feature, Target.LIBRARY); Capture capture = Capture.take(target.request())) {
            Snapshot snapshot = (Snapshot) capture.sources().getFirst();
            assertEquals(copies, !snapshot.unforked().empty());
            List<Region> wiped = capture.image().regions().stream().filter(Region::wiped).toList();
            assertTrue(!wiped.isEmpty(), "the program has memory that is wiped in forks");
            for (Region region : wiped) {
                assertTrue(!snapshot.hasExtentIn(region.start(), region.end()), () -> "contents of %s in the image".formatted(region));
                assertTrue(region.vmFlags().contains(MappingFlags.WIPED));
            }
        }
    }
}
