package org.udckpt.rc;

/** The same on the generic path: other keys in each incarnation, sends recorded by the layer. */
class RcGenericPathTest extends RcVirtualizationTest {
    @Override
    String dataPath() {
        return "generic";
    }
}
