package org.udckpt.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.udckpt.linux.LinuxConstants.SIGINT;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The ranks get each signal; a second INT ends the job. */
class UserSignalsTest {
    private final List<String> events = new ArrayList<>();
    private final EndRequest askedEnd = new EndRequest();
    private final UserSignals signals = new UserSignals(askedEnd, number -> events.add("ranks " + number),
            code -> events.add("force " + code));

    @Test
    void aSecondInterruptEndsTheJobByForce() {
        signals.received(SIGINT);
        assertEquals(List.of("ranks 2"), events);
        signals.received(SIGINT);
        assertEquals(List.of("ranks 2", "force 130"), events);
    }

    @Test
    void othersArePassedOnAsOftenAsTheyCome() {
        int user = 10; // SIGUSR1
        assertFalse(askedEnd.explains(128 + user));
        signals.received(user);
        signals.received(user);
        assertEquals(List.of("ranks 10", "ranks 10"), events);
        assertTrue(askedEnd.explains(128 + user));
    }
}
