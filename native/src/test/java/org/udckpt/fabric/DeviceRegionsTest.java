package org.udckpt.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory that a real device may write to is listed: {@code native/src/test/c/device_regions.c}. */
@Timeout(120)
class DeviceRegionsTest {
    @Test
    void allThatThereAre() throws Exception {
        long seed = Long.getLong("udckpt.seed", System.nanoTime()) & 0x7fff_ffff;
        try (Native.Running running = Native.start(Map.of("LD_PRELOAD", ""),
                List.of(Native.program("device_regions").toString(), Long.toString(seed)))) {
            Native.Result result = running.await(60);
            assertEquals(0, result.exit(), () -> "seed " + seed + ", " + result);
        }
    }
}
