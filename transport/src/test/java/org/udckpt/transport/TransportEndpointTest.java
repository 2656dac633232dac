package org.udckpt.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.coordination.tree.TreeTransport;

/** What the way between nodes promises to those who use it; real connections over loopback. */
@Timeout(120)
class TransportEndpointTest {
    private static final int SECONDS = 30;

    private static Received.Item next(Received at) throws InterruptedException {
        Received.Item item = at.items.poll(SECONDS, TimeUnit.SECONDS);
        assertNotNull(item, "nothing came");
        return item;
    }

    @Test
    void messagesOfAPairKeepTheirOrderAndComeOnce() throws Exception {
        try (Nodes nodes = new Nodes(3, Nodes.quick())) {
            for (long number = 0; number < 5000; number++) {
                nodes.endpoints.get(0).send(2, Nodes.number(number));
                nodes.endpoints.get(1).send(2, Nodes.number(number));
            }
            long[] expected = new long[2];
            for (int i = 0; i < 10_000; i++) {
                Received.Item item = next(nodes.received.get(2));
                assertEquals(expected[item.from()]++, Nodes.number(item.bytes()), "from node " + item.from());
            }
            assertTrue(nodes.endpoints.get(0).flush(Duration.ofSeconds(SECONDS)));
            assertTrue(nodes.received.get(2).items.isEmpty());
        }
    }

    /** The lead of many nodes hears from each of them at the start, and need not keep a connection to each. */
    @Test
    void aConnectionThatIsNotUsedIsClosedAndMadeAgain() throws Exception {
        TransportLimits quick = Nodes.quick();
        TransportLimits limits = new TransportLimits(quick.strangers(), quick.strangersOfOne(), quick.connections(),
                quick.handshake(), quick.frameBytes(), quick.tableBytes(), quick.queueBytes(),
                quick.messageCall(), quick.tableCall(), quick.firstPause(), quick.longestPause(),
                Duration.ofSeconds(1)); // the least that gRPC takes
        try (Nodes nodes = new Nodes(3, limits)) {
            long refused = 0;
            for (long number = 0; number < 2; number++) {
                nodes.endpoints.get(1).send(0, Nodes.number(number));
                assertEquals(number, Nodes.number(next(nodes.received.get(0)).bytes()));
                if (number == 0) {
                    refused = nodes.endpoints.get(0).refused(); // a first handshake may take longer than a call may
                }
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
                while (nodes.endpoints.get(0).connections() > 0) {
                    assertTrue(System.nanoTime() < end, "it is still there");
                    Thread.sleep(20);
                }
            }
            assertEquals(refused, nodes.endpoints.get(0).refused());
        }
    }

    /** All nodes of a job talk to its lead at once when it starts. */
    @Test
    void moreNodesThanThereAreConnectionsAllHearOfEachOther() throws Exception {
        TransportLimits quick = Nodes.quick();
        int count = 13, most = 3;
        TransportLimits limits = new TransportLimits(64, 64, most, quick.handshake(), quick.frameBytes(),
                quick.tableBytes(), quick.queueBytes(), quick.messageCall(), quick.tableCall(),
                quick.firstPause(), quick.longestPause(), quick.idle());
        try (Nodes nodes = new Nodes(count, limits)) {
            TransportEndpoint lead = nodes.endpoints.getFirst();
            for (long round = 0; round < 3; round++) {
                for (int node = 1; node < count; node++) {
                    nodes.endpoints.get(node).send(0, Nodes.number(round));
                    lead.send(node, Nodes.number(round));
                }
                Set<Integer> heard = new HashSet<>();
                for (int node = 1; node < count; node++) {
                    assertEquals(round, Nodes.number(next(nodes.received.get(node)).bytes()));
                    Received.Item item = next(nodes.received.getFirst());
                    assertEquals(round, Nodes.number(item.bytes()));
                    assertTrue(heard.add(item.from()), "node " + item.from() + " came twice");
                    assertTrue(lead.members() <= most && lead.ownConnections() <= most,
                            lead.members() + " and " + lead.ownConnections() + " connections");
                }
                assertTrue(lead.flush(Duration.ofSeconds(SECONDS)));
            }
            while (lead.connections() > most) {
                Thread.sleep(10); // the last that had to go; the test's time limit bounds it
            }
        }
    }

    @Test
    void messagesOfAllSizesComeAsTheyWere() throws Exception {
        Random random = new Random(6);
        try (Nodes nodes = new Nodes(2, Nodes.quick())) {
            for (int size : new int[]{0, 1, 4095, 65_536, TreeTransport.MAX_MESSAGE_BYTES - 1,
                    TreeTransport.MAX_MESSAGE_BYTES}) {
                byte[] message = new byte[size];
                random.nextBytes(message);
                nodes.endpoints.get(0).send(1, message);
                assertArrayEquals(message, next(nodes.received.get(1)).bytes());
            }
            assertThrows(IllegalArgumentException.class,
                    () -> nodes.endpoints.get(0).send(1, new byte[TreeTransport.MAX_MESSAGE_BYTES + 1]));
        }
    }

    @Test
    void tablesComeWholeAndInOrder() throws Exception {
        int rows = 1 << 20; // 8 MiB: several batches
        try (Nodes nodes = new Nodes(2, Nodes.quick()); BufferAllocator allocator = new RootAllocator();
                VectorSchemaRoot table = Nodes.table(allocator, rows);
                VectorSchemaRoot empty = Nodes.table(allocator, 0)) {
            TransportEndpoint sender = nodes.endpoints.get(0);
            CompletableFuture<Void> large = sender.table(1, new byte[]{7}, table);
            CompletableFuture<Void> none = sender.table(1, new byte[]{8}, empty);
            Received received = nodes.received.get(1);
            Received.Item first = next(received);
            assertArrayEquals(new byte[]{7}, first.bytes());
            assertEquals(LongStream.range(0, rows).boxed().toList(), first.numbers());
            assertEquals(List.of(), next(received).numbers());
            large.get(SECONDS, TimeUnit.SECONDS);
            none.get(SECONDS, TimeUnit.SECONDS);
        }
    }

    @Test
    void aTableThatIsTooLargeIsRefusedAndTheWayGoesOn() throws Exception {
        try (Nodes nodes = new Nodes(2, Nodes.quick()); BufferAllocator allocator = new RootAllocator();
                VectorSchemaRoot table = Nodes.table(allocator, 5 << 20)) {
            CompletableFuture<Void> refused = nodes.endpoints.get(0).table(1, new byte[0], table);
            nodes.endpoints.get(0).send(1, Nodes.number(3));
            String why =
                    assertThrows(ExecutionException.class, () -> refused.get(SECONDS, TimeUnit.SECONDS)).getMessage();
            assertTrue(why.contains("a table of more than"), why);
            assertEquals(3, Nodes.number(next(nodes.received.get(1)).bytes()));
        }
    }

    @Test
    void aSlowReceiverHoldsTheSenderBackAndLosesTheOldestMessagesOnly() throws Exception {
        try (Nodes nodes = new Nodes(2, Nodes.quick())) {
            nodes.received.get(1).shut();
            int size = 1 << 16, count = 400; // 25 MiB into a queue of 4
            for (int number = 0; number < count; number++) {
                byte[] message = new byte[size];
                System.arraycopy(Nodes.number(number), 0, message, 0, Long.BYTES);
                nodes.endpoints.get(0).send(1, message);
            }
            assertFalse(nodes.endpoints.get(0).flush(Duration.ofMillis(200)), "the receiver takes nothing");
            nodes.received.get(1).open();
            assertTrue(nodes.endpoints.get(0).flush(Duration.ofSeconds(SECONDS)));
            List<Long> came = new ArrayList<>();
            for (Received.Item item : nodes.received.get(1).items) {
                came.add(Nodes.number(item.bytes()));
            }
            assertEquals(came.stream().sorted().distinct().toList(), came, "in order, once");
            long newest = (4L << 20) / (size + Envelope.PART_BYTES);
            assertTrue(came.containsAll(LongStream.range(count - newest, count).boxed().toList()),
                    "the newest are there: " + came);
            assertTrue(came.size() < count, "the queue is bounded");
        }
    }

    @Test
    void tablesWaitForASlowReceiver() throws Exception {
        try (Nodes nodes = new Nodes(2, Nodes.quick()); BufferAllocator allocator = new RootAllocator();
                VectorSchemaRoot table = Nodes.table(allocator, 1 << 18)) { // 2 MiB, of a queue of 4
            nodes.received.get(1).shut();
            List<CompletableFuture<Void>> taken = new ArrayList<>();
            Thread sender = Thread.ofVirtual().start(() -> {
                try {
                    for (int i = 0; i < 8; i++) {
                        CompletableFuture<Void> one = nodes.endpoints.get(0).table(1, new byte[]{(byte) i}, table);
                        synchronized (taken) {
                            taken.add(one);
                        }
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            assertFalse(sender.join(Duration.ofMillis(300)), "eight tables went into a queue for two");
            nodes.received.get(1).open();
            assertTrue(sender.join(Duration.ofSeconds(SECONDS)));
            for (int i = 0; i < 8; i++) {
                taken.get(i).get(SECONDS, TimeUnit.SECONDS);
                assertArrayEquals(new byte[]{(byte) i}, next(nodes.received.get(1)).bytes());
            }
        }
    }

    @Test
    void aNodeThatComesBackElsewhereIsReachedAgain() throws Exception {
        try (Nodes nodes = new Nodes(2, Nodes.quick())) {
            nodes.endpoints.get(0).send(1, Nodes.number(1));
            assertEquals(1, Nodes.number(next(nodes.received.get(1)).bytes()));
            InetSocketAddress before = nodes.endpoints.get(1).address();
            nodes.replace(1);
            assertFalse(before.equals(nodes.endpoints.get(1).address()));
            nodes.endpoints.get(0).send(1, Nodes.number(2));
            assertEquals(2, Nodes.number(next(nodes.received.get(1)).bytes()));
            nodes.endpoints.get(1).send(0, Nodes.number(3));
            assertEquals(3, Nodes.number(next(nodes.received.get(0)).bytes()));
        }
    }

    @Test
    void messagesWaitForANodeWhoseAddressIsToldLater() throws Exception {
        Received received = new Received();
        try (Nodes nodes = new Nodes(1, Nodes.quick());
                TransportEndpoint late = new TransportEndpoint(5, Nodes.COUNT, Nodes.address(5, 0), nodes.credential,
                        received, nodes.limits)) {
            nodes.endpoints.get(0).send(5, Nodes.number(9));
            nodes.endpoints.get(0).reach(5, late.address());
            assertEquals(9, Nodes.number(next(received).bytes()));
        }
    }

    @Test
    void connectionsThatBreakAllTheTimeLoseNothingAndDoubleNothing() throws Exception {
        long seed = 61;
        try (Nodes nodes = new Nodes(2, Nodes.quick());
                CuttingProxy proxy = new CuttingProxy(nodes.endpoints.get(1).address(), seed)) {
            nodes.endpoints.get(0).reach(1, proxy.address());
            for (long number = 0; number < 200; number++) {
                nodes.endpoints.get(0).send(1, Nodes.number(number));
                assertEquals(number, Nodes.number(next(nodes.received.get(1)).bytes()), "seed " + seed);
            }
            assertTrue(proxy.cuts() > 3, "the proxy cut " + proxy.cuts() + " connections");
        }
    }

    @Test
    void aPartitionEndsAndWhatWaitedArrives() throws Exception {
        try (Nodes nodes = new Nodes(2, Nodes.quick());
                CuttingProxy proxy = new CuttingProxy(nodes.endpoints.get(1).address(), 0)) {
            proxy.cutAtRandom(false);
            nodes.endpoints.get(0).reach(1, proxy.address());
            nodes.endpoints.get(0).send(1, Nodes.number(1));
            assertEquals(1, Nodes.number(next(nodes.received.get(1)).bytes()));
            proxy.swallow(true); // bytes vanish, no connection ends
            nodes.endpoints.get(0).send(1, Nodes.number(2));
            nodes.endpoints.get(0).send(1, Nodes.number(3));
            assertFalse(nodes.endpoints.get(0).flush(Duration.ofMillis(500)));
            proxy.swallow(false);
            assertEquals(2, Nodes.number(next(nodes.received.get(1)).bytes()));
            assertEquals(3, Nodes.number(next(nodes.received.get(1)).bytes()));
        }
    }

    /** As at a job's end, when a node's parent in the tree is the first to go. */
    @Test
    @Timeout(60)
    void lastWordsToANodeThatHasEndedAreNotWaitedFor() throws Exception {
        try (Nodes nodes = new Nodes(2, Nodes.quick())) {
            nodes.endpoints.get(0).send(1, Nodes.number(1));
            assertEquals(1, Nodes.number(next(nodes.received.get(1)).bytes()));
            nodes.endpoints.get(1).close();
            nodes.endpoints.get(0).send(1, Nodes.number(2));
            assertFalse(nodes.endpoints.get(0).flush(Duration.ofMinutes(10)));
        }
    }

    @Test
    void aNodeThatIsGivenUpHoldsNobodyUp() throws Exception {
        try (Nodes nodes = new Nodes(2, Nodes.quick()); BufferAllocator allocator = new RootAllocator();
                VectorSchemaRoot table = Nodes.table(allocator, 10)) {
            nodes.endpoints.get(1).close();
            CompletableFuture<Void> lost = nodes.endpoints.get(0).table(1, new byte[0], table);
            nodes.endpoints.get(0).forget(1);
            assertInstanceOf(LinkClosedException.class,
                    assertThrows(ExecutionException.class, () -> lost.get(SECONDS, TimeUnit.SECONDS)).getCause());
        }
    }

    @Test
    void theEndComesInTheMiddleOfEverything() throws Exception {
        Set<String> before = linkThreads();
        for (int round = 0; round < 5; round++) {
            try (Nodes nodes = new Nodes(3, Nodes.quick())) {
                nodes.received.get(2).shut();
                for (int number = 0; number < 100; number++) {
                    nodes.endpoints.get(0).send(1, new byte[1 << 16]);
                    nodes.endpoints.get(1).send(2, new byte[1 << 16]);
                }
            } // the allocators say when a buffer is left
        }
        while (!before.containsAll(linkThreads())) {
            // a thread that has said that it ends still takes a moment; the test's time limit bounds it
            Thread.sleep(10);
        }
    }

    private static Set<String> linkThreads() {
        Set<String> names = new HashSet<>();
        Thread.getAllStackTraces().keySet().stream().filter(Thread::isAlive).map(Thread::getName)
                .filter(name -> name.startsWith("link")).forEach(names::add);
        return names;
    }

    @Test
    void anAddressOfAllInterfacesIsNotBound() {
        assertThrows(IllegalArgumentException.class, () -> new TransportEndpoint(0, Nodes.COUNT,
                new InetSocketAddress(0), JobCredential.generate(), new Received(), Nodes.quick()));
        IOException taken = assertThrows(IOException.class, () -> {
            try (Nodes nodes = new Nodes(1, Nodes.quick())) {
                new TransportEndpoint(1, Nodes.COUNT, nodes.endpoints.get(0).address(), nodes.credential,
                        new Received(), Nodes.quick());
            }
        });
        assertTrue(taken.getMessage().contains("127.88.0.1 port"), taken.getMessage());
    }
}
