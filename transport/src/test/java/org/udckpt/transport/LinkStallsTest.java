package org.udckpt.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.coordination.tree.Timing;

/** What stalls, is given up or finds no room, and what must go on meanwhile. */
@Timeout(120)
class LinkStallsTest {
    private static final int SECONDS = 30;
    /** Rows of a table that is just within 2 MiB. */
    private static final int ROWS = (1 << 18) - (1 << 13);

    private static Received.Item next(Received at) throws InterruptedException {
        Received.Item item = at.items.poll(SECONDS, TimeUnit.SECONDS);
        assertNotNull(item, "nothing came");
        return item;
    }

    private static TransportLimits limits(long tableBytes, Duration messageCall, Duration tableCall) {
        TransportLimits quick = Nodes.quick();
        return new TransportLimits(quick.strangers(), quick.strangersOfOne(), quick.connections(), quick.handshake(),
                quick.frameBytes(), tableBytes,
                quick.queueBytes(), messageCall, tableCall, quick.firstPause(), quick.longestPause(), quick.idle());
    }

    private static void assertGivenUp(CompletableFuture<Void> table) {
        Throwable why = assertThrows(ExecutionException.class, () -> table.get(SECONDS, TimeUnit.SECONDS)).getCause();
        assertInstanceOf(LinkClosedException.class, why);
    }

    /** A table of eight batches to a node that takes nothing from the wire any more. */
    private static CompletableFuture<Void> underWay(Nodes nodes, CuttingProxy proxy, VectorSchemaRoot table)
            throws Exception {
        proxy.cutAtRandom(false);
        nodes.endpoints.get(0).reach(1, proxy.address());
        nodes.endpoints.get(0).table(1, new byte[0], table).get(SECONDS, TimeUnit.SECONDS);
        proxy.swallow(true);
        CompletableFuture<Void> taken = nodes.endpoints.get(0).table(1, new byte[0], table);
        assertThrows(TimeoutException.class, () -> taken.get(300, TimeUnit.MILLISECONDS));
        return taken;
    }

    @Test
    void aTableUnderWayFailsWhenItsNodeIsGivenUp() throws Exception {
        try (BufferAllocator allocator = new RootAllocator(); VectorSchemaRoot table = Nodes.table(allocator, 1 << 20);
                Nodes nodes = new Nodes(2, Nodes.quick());
                CuttingProxy proxy = new CuttingProxy(nodes.endpoints.get(1).address(), 0)) {
            CompletableFuture<Void> taken = underWay(nodes, proxy, table);
            nodes.endpoints.get(0).forget(1);
            assertGivenUp(taken);
            assertGivenUp(nodes.endpoints.get(0).table(1, new byte[0], table));
        }
    }

    @Test
    void aTableUnderWayFailsWhenTheEndpointCloses() throws Exception {
        try (BufferAllocator allocator = new RootAllocator(); VectorSchemaRoot table = Nodes.table(allocator, 1 << 20);
                Nodes nodes = new Nodes(2, Nodes.quick());
                CuttingProxy proxy = new CuttingProxy(nodes.endpoints.get(1).address(), 0)) {
            CompletableFuture<Void> taken = underWay(nodes, proxy, table);
            nodes.endpoints.get(0).close();
            assertGivenUp(taken);
            assertThrows(IllegalStateException.class, () -> nodes.endpoints.get(0).send(1, new byte[1]));
            nodes.endpoints.removeFirst();
        }
    }

    /** Flight waits for a connection's room without an end of its own. */
    @Test
    void aTableThatStallsIsSentAgain() throws Exception {
        try (BufferAllocator allocator = new RootAllocator(); VectorSchemaRoot table = Nodes.table(allocator, 1 << 20);
                Nodes nodes = new Nodes(2, limits(32L << 20, Duration.ofSeconds(2), Duration.ofSeconds(3)));
                CuttingProxy proxy = new CuttingProxy(nodes.endpoints.get(1).address(), 0)) {
            CompletableFuture<Void> taken = underWay(nodes, proxy, table);
            proxy.swallow(false);
            taken.get(SECONDS, TimeUnit.SECONDS);
            next(nodes.received.get(1));
            next(nodes.received.get(1));
            assertTrue(nodes.received.get(1).items.isEmpty());
        }
    }

    @Tag("slow")
    @Test
    void tablesOfMoreSendersThanThereIsMemoryForAllArrive() throws Exception {
        int senders = 6; // of 2 MiB each, into 8
        try (BufferAllocator allocator = new RootAllocator(); VectorSchemaRoot table = Nodes.table(allocator, ROWS);
                Nodes nodes = new Nodes(senders + 1, limits(2L << 20, Duration.ofSeconds(2), Duration.ofSeconds(20)))) {
            nodes.received.getFirst().shut();
            List<CompletableFuture<Void>> taken = new ArrayList<>();
            for (int node = 1; node <= senders; node++) {
                taken.add(nodes.endpoints.get(node).table(0, new byte[0], table));
            }
            CompletableFuture<Object> any = CompletableFuture.anyOf(taken.toArray(CompletableFuture[]::new));
            assertThrows(TimeoutException.class, () -> any.get(3, TimeUnit.SECONDS), "a table was refused for good");
            nodes.received.getFirst().open();
            for (CompletableFuture<Void> one : taken) {
                one.get(SECONDS, TimeUnit.SECONDS);
            }
            assertEquals(senders, nodes.received.getFirst().items.size());
        }
    }

    @Tag("slow")
    @Test
    void whatFindsNoMemoryIsTriedAgain() throws Exception {
        Received later = new Received() {
            private boolean full = true;

            @Override
            public void message(int from, byte[] message) throws InterruptedException {
                if (full) {
                    full = false;
                    throw new OutOfMemoryException("all is taken");
                }
                super.message(from, message);
            }
        };
        try (Nodes nodes = new Nodes(1, Nodes.quick());
                TransportEndpoint other = new TransportEndpoint(1, Nodes.COUNT, Nodes.address(1, 0), nodes.credential,
                        later, nodes.limits)) {
            nodes.endpoints.getFirst().reach(1, other.address());
            nodes.endpoints.getFirst().send(1, Nodes.number(6));
            assertEquals(6, Nodes.number(next(later).bytes()));
        }
    }

    @Test
    void aTableThatIsRepeatedWhileItIsTakenIsNotReadAgain() throws Exception {
        try (BufferAllocator allocator = new RootAllocator(); VectorSchemaRoot table = Nodes.table(allocator, ROWS);
                Nodes nodes = new Nodes(2, limits(2L << 20, Duration.ofSeconds(2), Duration.ofMillis(500)))) {
            nodes.received.get(1).shut();
            CompletableFuture<Void> taken = nodes.endpoints.get(0).table(1, new byte[]{4}, table);
            // of ten attempts, four would fill the memory
            assertThrows(TimeoutException.class, () -> taken.get(5, TimeUnit.SECONDS));
            nodes.received.get(1).open();
            taken.get(SECONDS, TimeUnit.SECONDS);
            assertArrayEquals(new byte[]{4}, next(nodes.received.get(1)).bytes());
            assertTrue(nodes.received.get(1).items.isEmpty(), "it came twice");
        }
    }

    @Test
    void whatIsRepeatedWhileItIsTakenIsSentAwayAtOnce() throws Exception {
        InboundChannel inbound = new InboundChannel();
        Envelope envelope = new Envelope(3, 1, 1, List.of());
        CompletableFuture<Throwable> second = new CompletableFuture<>();
        inbound.accept(envelope, () -> {
            Thread.ofVirtual().start(() -> {
                try {
                    inbound.accept(envelope, () -> {});
                    second.complete(null);
                } catch (InterruptedException | RuntimeException e) {
                    second.complete(e);
                }
            });
            String why = String.valueOf(second.orTimeout(SECONDS, TimeUnit.SECONDS).join());
            assertTrue(why.contains("an earlier attempt of node 3"), why);
        });
        inbound.accept(envelope, () -> {
            throw new AssertionError("it was handed over before");
        });
    }

    @Test
    void messagesDoNotWaitForATableThatIsBeingTaken() throws Exception {
        Received tables = new Received(), messages = new Received();
        Inbox inbox = new Inbox() {
            @Override
            public void message(int from, byte[] message) throws InterruptedException {
                messages.message(from, message);
            }

            @Override
            public void table(int from, byte[] subject, VectorSchemaRoot table) throws InterruptedException {
                tables.table(from, subject, table);
            }
        };
        try (BufferAllocator allocator = new RootAllocator(); VectorSchemaRoot table = Nodes.table(allocator, 10);
                Nodes nodes = new Nodes(1, Nodes.quick());
                TransportEndpoint other = new TransportEndpoint(1, Nodes.COUNT, Nodes.address(1, 0), nodes.credential,
                        inbox, nodes.limits)) {
            tables.shut();
            nodes.endpoints.getFirst().reach(1, other.address());
            CompletableFuture<Void> taken = nodes.endpoints.getFirst().table(1, new byte[0], table);
            nodes.endpoints.getFirst().send(1, Nodes.number(5));
            assertEquals(5, Nodes.number(next(messages).bytes()));
            assertFalse(taken.isDone());
            tables.open();
            taken.get(SECONDS, TimeUnit.SECONDS);
        }
    }

    @Test
    void aTableThatWaitsPushesNoMessageOut() throws Exception {
        int each = 1 << 18, count = 12; // 3 MiB, and as much in a table, into queues of 4
        try (BufferAllocator allocator = new RootAllocator(); VectorSchemaRoot table = Nodes.table(allocator, 3 << 17);
                Nodes nodes = new Nodes(2, Nodes.quick())) {
            Received received = new Received();
            try (TransportEndpoint late = new TransportEndpoint(5, Nodes.COUNT, Nodes.address(5, 0), nodes.credential,
                    received, nodes.limits)) {
                // taken from the queue, waits for an address
                CompletableFuture<Void> first = nodes.endpoints.getFirst().table(5, new byte[0], table);
                CompletableFuture<Void> second = nodes.endpoints.getFirst().table(5, new byte[0], table);
                for (int number = 0; number < count; number++) {
                    byte[] message = new byte[each];
                    System.arraycopy(Nodes.number(number), 0, message, 0, Long.BYTES);
                    nodes.endpoints.getFirst().send(5, message);
                }
                nodes.endpoints.getFirst().reach(5, late.address());
                first.get(SECONDS, TimeUnit.SECONDS);
                second.get(SECONDS, TimeUnit.SECONDS);
                assertTrue(nodes.endpoints.getFirst().flush(Duration.ofSeconds(SECONDS)));
                assertEquals(count, received.items.stream().filter(item -> item.numbers() == null).count());
            }
        }
    }

    @Test
    void aCallOfMessagesEndsWellBeforeALeaseDoes() {
        assertTrue(TransportLimits.usual().messageCall().toNanos() * 3 <= Timing.USUAL.lease());
    }

    @Test
    void whoWasGivenUpButIncarnationsHearsOfItAndNothingOfItRemains() throws Exception {
        try (Nodes nodes = new Nodes(2, Nodes.quick())) {
            TransportEndpoint sender = nodes.endpoints.getFirst();
            for (long number = 0; number < 3; number++) {
                sender.send(1, Nodes.number(number));
                assertEquals(number, Nodes.number(next(nodes.received.get(1)).bytes()));
            }
            sender.forget(1);
            assertEquals(0, sender.peers());
            sender.send(1, Nodes.number(7));
            assertEquals(7, Nodes.number(next(nodes.received.get(1)).bytes()));
            awaitNoPeers(sender);
            sender.reach(1, nodes.endpoints.get(1).address());
            sender.send(1, Nodes.number(8));
            assertEquals(8, Nodes.number(next(nodes.received.get(1)).bytes()));
            assertEquals(1, sender.peers());
        }
    }

    @Test
    void aWordToADeadNodeThatWasGivenUpIsDropped() throws Exception {
        try (Nodes nodes = new Nodes(2, Nodes.quick())) {
            nodes.endpoints.get(1).close();
            nodes.endpoints.removeLast();
            nodes.endpoints.getFirst().forget(1);
            nodes.endpoints.getFirst().send(1, Nodes.number(7));
            awaitNoPeers(nodes.endpoints.getFirst());
            assertNull(nodes.received.get(1).items.poll());
        }
    }

    private static void awaitNoPeers(TransportEndpoint endpoint) throws InterruptedException {
        while (endpoint.peers() > 0) {
            Thread.sleep(10); // the test's time limit bounds it
        }
    }
}
