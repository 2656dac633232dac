package org.udckpt.job.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.address.RankSpan;

@Timeout(30)
class RankTableTest {
    private final AtomicInteger kills = new AtomicInteger();
    private final RankTable table = new RankTable(RankSpan.all(2), kills::incrementAndGet, EndListener.NOBODY);

    private void start() {
        table.started(0, 100);
        table.started(1, 101);
    }

    @Test
    void codesAreOred() throws Exception {
        start();
        table.exited(100, 1 << 8);
        table.exited(101, 2 << 8);
        assertEquals(3, table.await());
        assertEquals(0, kills.get());
    }

    @Test
    void aSignalEndsTheOthersAndGivesItsNumber() throws Exception {
        start();
        table.exited(101, 11 | 128);
        assertEquals(1, kills.get());
        table.exited(100, 9);
        assertEquals(139, table.await());
    }

    @Test
    void abortDecidesTheCode() throws Exception {
        start();
        table.abort(1, 7);
        table.exited(101, 5 << 8);
        table.exited(100, 9);
        assertEquals(7, table.await());
        assertEquals(1, kills.get());
    }

    @Test
    void leavingWithoutFinalizeEndsTheOthersAndKeepsTheCode() throws Exception {
        start();
        table.lost(1);
        table.exited(101, 3 << 8);
        table.exited(100, 9);
        assertEquals(3, table.await());
        assertEquals(1, kills.get());
    }

    @Test
    void aKilledRankGivesItsSignalAlsoWhenItsConnectionIsSeenToCloseFirst() throws Exception {
        start();
        table.lost(1);
        table.exited(100, 9); // by killAll
        table.exited(101, 9); // by whoever killed it
        assertEquals(9, table.await());
    }

    @Test
    void anExitReportedBeforeTheStartCounts() throws Exception {
        table.exited(100, 4 << 8);
        start();
        assertTrue(table.ranks().get(1).alive());
        table.exited(101, 0);
        assertEquals(4, table.await());
    }
}
