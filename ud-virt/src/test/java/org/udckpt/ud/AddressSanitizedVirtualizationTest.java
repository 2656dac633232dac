package org.udckpt.ud;

import org.junit.jupiter.api.Tag;

/**
 * The same with a library that AddressSanitizer and UndefinedBehaviorSanitizer watch: objects of several incarnations.
 */
@Tag("slow")
class AddressSanitizedVirtualizationTest extends ThreadSanitizedVirtualizationTest {
    @Override
    SanitizedBuild build() {
        return SanitizedBuild.ADDRESS;
    }
}
