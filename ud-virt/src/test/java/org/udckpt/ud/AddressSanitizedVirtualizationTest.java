package org.udckpt.ud;

/**
 * The same with a library that AddressSanitizer and UndefinedBehaviorSanitizer watch: objects of several incarnations.
 */
class AddressSanitizedVirtualizationTest extends ThreadSanitizedVirtualizationTest {
    @Override
    SanitizedBuild build() {
        return SanitizedBuild.ADDRESS;
    }
}
