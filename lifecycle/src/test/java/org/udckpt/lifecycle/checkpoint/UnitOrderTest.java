package org.udckpt.lifecycle.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.image.ImageError;
import org.udckpt.image.Manifest;
import org.udckpt.image.write.PartOrder;

class UnitOrderTest {
    private static final PartOrder PART =
            new PartOrder(Path.of("/images/ckpt-0007"), 3, "0123456789abcdef", Manifest.Integrity.XXH3, null, null);

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void comesBackAsItWas(boolean last, boolean detachDebuggers) throws Exception {
        UnitOrder order = new UnitOrder(PART, new StopOptions(last, detachDebuggers));
        assertEquals(order, UnitOrder.decode(order.encode()));
    }

    /** Nobody is left standing, or let go, for a word that is not quite one. */
    @Test
    void nothingElseIsAnOrder() {
        String part = new UnitOrder(PART, new StopOptions(false, false)).encode();
        for (String text : new String[]{"", "last ", "last last " + part, "LAST " + part, "last" + part,
                " last " + part, "last  " + part,
                "detach-debuggers last " + part, "detach-debuggers detach-debuggers " + part}) {
            assertThrows(ImageError.Corrupt.class, () -> UnitOrder.decode(text), text);
        }
    }
}
