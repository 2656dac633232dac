package org.udckpt.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Snapshots make the same tags of blocks as libcrypto, in each width of registers that the processor has:
 * {@code native/src/test/c/snapshot_tags.c}, with {@code udckpt.seed}.
 */
@Timeout(120)
class SnapshotTagsTest {
    @Test
    void theyAreLibcryptos() throws Exception {
        long seed = Long.getLong("udckpt.seed", System.nanoTime()) & 0x7fff_ffff;
        System.out.println("SnapshotTagsTest: -Dudckpt.seed=" + seed);
        try (Native.Running running = Native.start(Map.of("LD_PRELOAD", ""),
                List.of(Native.program("snapshot_tags").toString(), Long.toString(seed)))) {
            Native.Result result = running.await(60);
            System.out.print("SnapshotTagsTest: up to " + result.out());
            assertEquals(0, result.exit(), () -> "seed " + seed + ", " + result);
        }
    }
}
