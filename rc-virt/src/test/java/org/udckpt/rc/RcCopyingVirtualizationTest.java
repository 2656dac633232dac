package org.udckpt.rc;

/** The same over a device that does not borrow the translation: other keys in each life, sends recorded by the layer. */
class RcCopyingVirtualizationTest extends RcVirtualizationTest {
    @Override
    String lending() {
        return "0";
    }
}
