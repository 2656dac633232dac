package org.udckpt.ud.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.impl.NatIbvContext;
import com.ibm.disni.verbs.impl.NatIbvQP;
import com.ibm.disni.verbs.impl.RdmaVerbsNat;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** DiSNI's native half on a machine without devices: what cannot be done is an IOException that names it. */
class DisniErrorsTest {
    @Test
    void dispatcherTakesTheLibrary() {
        assertEquals(32, RdmaVerbs.getVersion(), "the version that DiSNI 2.0 insists on");
    }

    @Test
    void missingDeviceIsNamed() {
        IOException none = assertThrows(IOException.class, () -> UdContext.open("no_such_device_0"));
        assertTrue(none.getMessage().contains("no_such_device_0") && none.getMessage().contains("No such device"),
                none.getMessage());
    }

    @Test
    void nullObjectsAreRefusedBeforeTheyAreUsed() throws IOException {
        IbvContext nothing = new NatIbvContext(0, null);
        IOException refused = assertThrows(IOException.class, nothing::allocPd);
        assertTrue(refused.getMessage().contains("ibv_alloc_pd: the context is null"), refused.getMessage());
    }

    /** DiSNI 2.0 drops the attributes on the way, so nothing may be modified. */
    @Test
    void modifyQpSaysThatItsAttributesAreMissing() throws IOException {
        NatIbvQP qp = new NatIbvQP(1, null);
        IOException refused =
                assertThrows(IOException.class, () -> ((RdmaVerbsNat) RdmaVerbs.open()).modifyQP(qp, null));
        assertTrue(refused.getMessage().contains("ibv_modify_qp") && refused.getMessage().contains("UdQueuePair"),
                refused.getMessage());
    }
}
