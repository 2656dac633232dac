package org.udckpt.rc;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.udckpt.ud.SanitizedBuild;

/**
 * The same with a library that ThreadSanitizer watches: the control thread and the device's own thread against those of
 * the program.
 */
@Tag("slow")
@Timeout(900) // the first one builds
class ThreadSanitizedRcTest extends RcVirtualizationTest {
    @Override
    RcClient client(int rank, Map<String, String> environment) throws Exception {
        Map<String, String> sanitized = new HashMap<>(environment);
        sanitized.putAll(SanitizedBuild.environment());
        return new RcClient(rank, SanitizedBuild.THREAD.directory(), sanitized);
    }
}
