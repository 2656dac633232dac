package org.udckpt.ud;

/** The same on the generic path: requests are copied and recorded. */
class UdGenericPathTest extends UdVirtualizationTest {
    @Override
    String dataPath() {
        return "generic";
    }
}
