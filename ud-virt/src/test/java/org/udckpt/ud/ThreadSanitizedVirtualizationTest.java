package org.udckpt.ud;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** The same with a library that ThreadSanitizer watches: the control thread's work against the program's threads. */
@Timeout(900) // the first one builds
@Tag("slow")
class ThreadSanitizedVirtualizationTest extends UdVirtualizationTest {
    SanitizedBuild build() {
        return SanitizedBuild.THREAD;
    }

    @Override
    UdClient client(int rank, Map<String, String> environment) throws Exception {
        Map<String, String> sanitized = new HashMap<>(environment);
        sanitized.putAll(SanitizedBuild.environment());
        return new UdClient(rank, build().directory(), sanitized);
    }
}
