package org.udckpt.rc;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.udckpt.ud.SanitizedBuild;

/**
 * The same with a library that AddressSanitizer and UndefinedBehaviorSanitizer watch: objects and requests of several
 * incarnations.
 */
@Tag("slow")
@Timeout(900) // the first one builds
class AddressSanitizedRcTest extends RcVirtualizationTest {
    @Override
    RcClient client(int rank, Map<String, String> environment) throws Exception {
        Map<String, String> sanitized = new HashMap<>(environment);
        sanitized.putAll(SanitizedBuild.environment());
        return new RcClient(rank, SanitizedBuild.ADDRESS.directory(), sanitized);
    }
}
