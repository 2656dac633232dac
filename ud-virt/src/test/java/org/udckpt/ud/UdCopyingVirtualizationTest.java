package org.udckpt.ud;

/** The same with a device that does not borrow the translation: requests are copied and recorded. */
class UdCopyingVirtualizationTest extends UdVirtualizationTest {
    @Override
    String lending() {
        return "0";
    }
}
