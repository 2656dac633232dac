package org.udckpt.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
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

    /** A restart that fails ends what it has restored so far, and is itself the news. */
    @Test
    void aRankThatIsLostBeforeItIsKnownToRunIsNewsOnlyThen() throws Exception {
        part.lost(7);
        assertEquals(List.of(), told);
        assertEquals(0, kills.get());
        part.started(6, 106);
        part.started(7, 107);
        assertEquals(List.of("OptionalInt.empty rank 7 left without MPI_Finalize"), told);
        assertEquals(1, kills.get());
        part.exited(107, 3 << 8);
        part.exited(106, 9);
        assertEquals(3, part.await());
    }

    private final List<String> told = new ArrayList<>();
    private final RankTable part =
            new RankTable(new RankSpan(6, 2, 10), kills::incrementAndGet, (code, why) -> told.add(code + " " + why));

    private void startPart() {
        part.started(6, 106);
        part.started(7, 107);
    }

    @Test
    void ranksHaveTheirNumbersInTheJobAndOthersAgentsAreToldOfADeathOnce() throws Exception {
        startPart();
        assertEquals(List.of(new RankTable.Rank(6, 106, true), new RankTable.Rank(7, 107, true)), part.ranks());
        part.exited(107, 9);
        part.exited(106, 9);
        assertEquals(List.of("OptionalInt[9] rank 7 (process 107) was ended by signal 9 (Killed)"), told);
        assertEquals(9, part.await());
        assertThrows(IndexOutOfBoundsException.class, () -> part.started(0, 1));
    }

    @Test
    void otherAgentsAreToldOfAnAbortAndOfARankThatHasLeft() {
        startPart();
        part.abort(6, 5);
        part.lost(7);
        assertEquals(List.of("OptionalInt[5] rank 6 aborted the job with code 5"), told);
        RankTable other = new RankTable(new RankSpan(8, 2, 10), kills::incrementAndGet,
                (code, why) -> told.add(code + " " + why));
        other.started(9, 109);
        other.lost(9);
        assertEquals("OptionalInt.empty rank 9 left without MPI_Finalize", told.getLast());
    }

    @Test
    void whatEndsElsewhereKeepsTheCodeOfItsOwnRanksAndTellsNobody() throws Exception {
        startPart();
        part.exited(106, 3 << 8);
        part.endElsewhere();
        part.exited(107, 9);
        assertEquals(1, kills.get());
        assertEquals(3, part.await());
        part.end(0, null);
        assertEquals(List.of(), told);
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
