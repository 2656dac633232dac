package org.udckpt.inspect.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** What {@code udckpt check} says of a container that keeps rights back. */
class EnvironmentCheckTest {
    private static final long SYS_ADMIN = 1L << 21, SYS_TIME = 1L << 25;

    @Test
    void rootWithAllThatARestartNeedsIsWell() {
        assertEquals(Finding.State.OK, EnvironmentCheck.asRoot(SYS_ADMIN | SYS_TIME).state());
    }

    @Test
    void whatIsMissingIsNamedWithTheWayOut() {
        Finding time = EnvironmentCheck.asRoot(SYS_ADMIN);
        assertEquals(Finding.State.MISSING, time.state());
        assertTrue(time.found().contains("CAP_SYS_TIME") && !time.found().contains("ADMIN"), time.found());
        Finding both = EnvironmentCheck.asRoot(0);
        assertTrue(both.found().contains("CAP_SYS_ADMIN, CAP_SYS_TIME"), both.found());
        assertTrue(both.advice().contains("--cap-add SYS_ADMIN,SYS_TIME"), both.advice());
    }
}
