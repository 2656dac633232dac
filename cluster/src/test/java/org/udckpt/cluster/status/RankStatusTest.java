package org.udckpt.cluster.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.address.CountersFile.Counters;
import org.udckpt.address.Endpoint;
import org.udckpt.address.Gid;
import org.udckpt.address.RankSpan;
import org.udckpt.address.Transport;
import org.udckpt.address.VerbsAddress;
import org.udckpt.cluster.ControlMessage;
import org.udckpt.cluster.NodeJob;
import org.udckpt.cluster.Unit;
import org.udckpt.launch.LaunchMode;
import org.udckpt.transport.Inbox;
import org.udckpt.transport.JobCredential;
import org.udckpt.transport.TransportLimits;

/** The tables of ranks and endpoints, what of them is refused, and the lead's questions. */
@Timeout(120)
class RankStatusTest {
    private static final Duration LONG = Duration.ofSeconds(60), SHORT = Duration.ofMillis(300);
    private static final RankSpan UNIT = new RankSpan(2, 2, 4);
    /** The third is a process below rank 3. */
    private static final List<RankStatusRow> RANKS = List.of(rank(2, 7, 3), rank(3, -1, 0), rank(7, -1, 1));
    private static final List<Endpoint> ENDPOINTS = List.of(
            new Endpoint(2, address(0xbfff, 0xffffff), address(1, 0x10001), Transport.RC),
            new Endpoint(2, address(17, 5), null, Transport.UD),
            new Endpoint(7, address(17, 6), address(2, 1), Transport.UD));

    private final BufferAllocator allocator = new RootAllocator();
    private final BlockingQueue<ControlMessage.ToUnits> asked = new LinkedBlockingQueue<>();

    @AfterEach
    void nothingIsLeft() {
        allocator.close();
    }

    private static RankStatusRow rank(int number, int mpiRank, int endpoints) {
        return new RankStatusRow(number, mpiRank, 100 + number, number % 2 == 0, endpoints,
                new Counters(1L << 40, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    }

    private static VerbsAddress address(int lid, int qpn) {
        return new VerbsAddress(lid, new Gid(0xfe80L << 48, lid), qpn);
    }

    private static NodeJob job(int units) {
        return new NodeJob("job", 0, LaunchMode.RANKS,
                IntStream.range(0, units).mapToObj(unit -> new Unit("h" + unit, "h" + unit, 2 * unit, 2)).toList(), 16,
                "/", List.of("true"), Map.of(), null);
    }

    private RankStatus rankStatus(int units, Duration timeout) {
        RankStatus rankStatus = new RankStatus(job(units), timeout);
        rankStatus.open(asked::add);
        return rankStatus;
    }

    private static <T> FutureTask<T> begin(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    private void tell(RankStatus rankStatus, int unit, int question, List<RankStatusRow> ranks,
            List<Endpoint> endpoints) {
        ranks(rankStatus, unit, question, ranks);
        try (VectorSchemaRoot table = EndpointTable.table(endpoints, allocator)) {
            rankStatus.table(unit + 1, new TableSubject(TableSubject.Kind.ENDPOINTS, question).encode(), table);
        }
    }

    private void ranks(RankStatus rankStatus, int unit, int question, List<RankStatusRow> ranks) {
        try (VectorSchemaRoot table = RankStatusTable.table(ranks, allocator)) {
            rankStatus.table(unit + 1, new TableSubject(TableSubject.Kind.RANKS, question).encode(), table);
        }
    }

    @Test
    void tablesComeAsTheyWereMade() {
        try (VectorSchemaRoot ranks = RankStatusTable.table(RANKS, allocator);
                VectorSchemaRoot endpoints = EndpointTable.table(ENDPOINTS, allocator);
                VectorSchemaRoot none = EndpointTable.table(List.of(), allocator)) {
            assertEquals(RANKS, RankStatusTable.read(ranks, UNIT));
            assertEquals(ENDPOINTS, EndpointTable.read(endpoints, UNIT, ENDPOINTS.size()));
            assertEquals(List.of(), EndpointTable.read(none, UNIT, 0));
        }
    }

    private void refused(String words, VectorSchemaRoot table, boolean ranks) {
        try (table) {
            String said = assertThrows(IllegalArgumentException.class, () -> {
                if (ranks) {
                    RankStatusTable.read(table, UNIT);
                } else {
                    EndpointTable.read(table, UNIT, 2);
                }
            }).getMessage();
            assertTrue(said.contains(words), said);
        }
    }

    @Test
    void tablesThatNoUnitWouldSendAreRefused() {
        refused("has rank 1, and is of ranks 2 to 3 of 4", RankStatusTable.table(List.of(rank(1, 0, 0)), allocator),
                true);
        refused("has rank 2 twice", RankStatusTable.table(List.of(rank(2, 0, 0), rank(2, 0, 0)), allocator), true);
        refused("of 8 columns instead of rank, mpi_rank, pid,", EndpointTable.table(ENDPOINTS, allocator), true);
        refused("rows, more than 65536",
                RankStatusTable.table(
                        IntStream.rangeClosed(0, RankStatusTable.MOST).mapToObj(one -> rank(2, 0, 0)).toList(),
                        allocator),
                true);
        refused("of pid -5", changed(RankStatusTable.table(RANKS, allocator), "pid", -5), true);
        refused("has 3 values, 1 of them missing, for 3 rows", missing(RankStatusTable.table(RANKS, allocator), "pid"),
                true);
        refused("of 15 columns instead of rank, transport, virtual_lid,", RankStatusTable.table(RANKS, allocator),
                false);
        refused("rows, more than 2", EndpointTable.table(ENDPOINTS, allocator), false);
        List<Endpoint> two = ENDPOINTS.subList(0, 2);
        refused("of rank 4, and is of", changed(EndpointTable.table(two, allocator), "rank", 4), false);
        refused("LID 65536", changed(EndpointTable.table(two, allocator), "virtual_lid", 0x10000), false);
        refused("QPN -1", changed(EndpointTable.table(two, allocator), "real_qpn", -1), false);
        refused("transport 77", changed(EndpointTable.table(two, allocator), "transport", 77), false);
        refused("half of a real address, of rank 2", missing(EndpointTable.table(two, allocator), "real_lid"), false);
    }

    private static VectorSchemaRoot changed(VectorSchemaRoot table, String column, int value) {
        ((IntVector) table.getVector(column)).set(0, value);
        return table;
    }

    private static VectorSchemaRoot missing(VectorSchemaRoot table, String column) {
        ((IntVector) table.getVector(column)).setNull(0);
        return table;
    }

    @Test
    void askersShareAQuestionThatIsOpen() throws Exception {
        RankStatus rankStatus = rankStatus(2, LONG);
        FutureTask<Map<Integer, UnitRanks>> first = begin(rankStatus::ask);
        assertEquals(new ControlMessage.Tell(1, RankStatus.MOST_ENDPOINTS / 2), asked.take());
        FutureTask<Map<Integer, UnitRanks>> second = new FutureTask<>(rankStatus::ask);
        Thread thread = Thread.ofPlatform().daemon().start(second);
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        tell(rankStatus, 1, 1, RANKS, ENDPOINTS);
        tell(rankStatus, 0, 1, List.of(), List.of());
        Map<Integer, UnitRanks> whole =
                Map.of(0, new UnitRanks(List.of(), List.of()), 1, new UnitRanks(RANKS, ENDPOINTS));
        assertEquals(whole, first.get());
        assertEquals(whole, second.get());
        assertTrue(asked.isEmpty());
        rankStatus.close();
        assertEquals(Map.of(), rankStatus.ask(), "the job ends: nobody is asked");
    }

    @Test
    void whoIsSilentIsNotWaitedForLong() throws Exception {
        RankStatus rankStatus = rankStatus(3, SHORT);
        FutureTask<Map<Integer, UnitRanks>> answers = begin(rankStatus::ask);
        asked.take();
        tell(rankStatus, 0, 1, List.of(rank(0, 0, 0)), List.of());
        ranks(rankStatus, 1, 1, RANKS.subList(0, 2)); // and no endpoints
        assertEquals(Map.of(0, new UnitRanks(List.of(rank(0, 0, 0)), List.of())), answers.get());
        ranks(rankStatus, 1, 1, RANKS.subList(0, 2)); // too late
        answers = begin(rankStatus::ask);
        assertEquals(2, ((ControlMessage.Tell) asked.take()).question());
        assertEquals(Map.of(), answers.get());
    }

    @Test
    void theEndOfTheJobEndsAQuestion() throws Exception {
        RankStatus rankStatus = rankStatus(2, LONG);
        FutureTask<Map<Integer, UnitRanks>> answers = begin(rankStatus::ask);
        asked.take();
        tell(rankStatus, 0, 1, List.of(), List.of());
        rankStatus.close();
        assertTrue(answers.get().keySet().stream().allMatch(unit -> unit == 0));
    }

    @Test
    void answersToNothingAreRefused() throws Exception {
        RankStatus rankStatus = rankStatus(2, SHORT);
        assertTrue(assertThrows(IllegalArgumentException.class, () -> ranks(rankStatus, 1, 1, RANKS)).getMessage()
                .contains("node 2 answers question 1, which was not asked"));
        for (byte[] subject : List.of(new byte[0], new byte[]{1, 2, 0, 0, 0, 1}, new byte[]{2, 0, 0, 0, 0, 1},
                new byte[]{1, 0, 0, 0, 0, 1, 0})) {
            try (VectorSchemaRoot table = RankStatusTable.table(RANKS, allocator)) {
                assertThrows(IllegalArgumentException.class, () -> rankStatus.table(1, subject, table));
            }
        }
        FutureTask<Map<Integer, UnitRanks>> answers = begin(rankStatus::ask);
        asked.take();
        String said = assertThrows(IllegalArgumentException.class, () -> ranks(rankStatus, 0, 1, RANKS)).getMessage();
        assertEquals("unit h0 on host h0: a table has rank 2, and is of ranks 0 to 1 of 4", said);
        assertEquals(Map.of(), answers.get());
    }

    @Test
    void aJobOfManyUnitsIsNotAsked() throws Exception {
        RankStatus rankStatus = rankStatus(RankStatus.MOST_UNITS + 1, LONG);
        assertEquals(Map.of(), rankStatus.ask());
        assertTrue(asked.isEmpty());
    }

    /** Of as many endpoints as there may be, in several record batches. */
    @Test
    void tablesGoThroughALink() throws Exception {
        JobCredential credential = JobCredential.generate();
        RankStatus rankStatus = rankStatus(1, LONG);
        Inbox inbox = new Inbox() {
            @Override
            public void message(int from, byte[] message) {
                throw new IllegalStateException("nobody sends any");
            }

            @Override
            public void table(int from, byte[] subject, VectorSchemaRoot table) {
                rankStatus.table(from, subject, table);
            }
        };
        List<RankStatusRow> ranks = List.of(rank(0, 0, 1), rank(1, 1, 1));
        List<Endpoint> endpoints = new ArrayList<>();
        for (int number = 0; number < RankStatus.MOST_ENDPOINTS; number++) {
            endpoints.add(new Endpoint(number * 2 / RankStatus.MOST_ENDPOINTS, address(1 + number % 1000, number),
                    number % 7 == 0 ? null : address(2000 + number % 1000, number),
                    number % 3 == 0 ? Transport.RC : Transport.UD));
        }
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (var lead =
                new org.udckpt.transport.TransportEndpoint(0, 2, any, credential, inbox, TransportLimits.usual());
                var agent = new org.udckpt.transport.TransportEndpoint(1, 2, any, credential, inbox,
                        TransportLimits.usual());
                VectorSchemaRoot first = RankStatusTable.table(ranks, allocator);
                VectorSchemaRoot second = EndpointTable.table(endpoints, allocator)) {
            agent.reach(0, lead.address());
            FutureTask<Map<Integer, UnitRanks>> answers = begin(rankStatus::ask);
            asked.take();
            agent.table(0, new TableSubject(TableSubject.Kind.RANKS, 1).encode(), first).get();
            String said = assertThrows(ExecutionException.class,
                    () -> agent.table(0, new TableSubject(TableSubject.Kind.RANKS, 1).encode(), second).get())
                    .getMessage();
            assertTrue(said.contains("unit h0 on host h0: a table of 8 columns"), said);
            agent.table(0, new TableSubject(TableSubject.Kind.ENDPOINTS, 1).encode(), second).get();
            assertEquals(Map.of(0, new UnitRanks(ranks, endpoints)), answers.get());
        }
    }
}
