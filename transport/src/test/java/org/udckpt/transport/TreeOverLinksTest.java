package org.udckpt.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.coordination.tree.Tree;

/**
 * The coordination tree's own code over real connections: what the simulator shows of thousands of nodes, here on a
 * few.
 */
@Timeout(180)
class TreeOverLinksTest {
    private static final int SECONDS = 90;
    /** Leases for a machine where everything may be slow, but not so long that the test of their end is. */
    private static final Timing TIMING = new Timing(Duration.ofMillis(250).toNanos(), Duration.ofSeconds(4).toNanos(),
            Duration.ofSeconds(60).toNanos());

    private final JobCredential credential = JobCredential.generate();
    private final List<LinkedNode> nodes = new ArrayList<>();

    private void start(int count, int fanOut) throws IOException {
        for (int node = 0; node < count; node++) {
            nodes.add(new LinkedNode(node, credential, Nodes.quick()));
        }
        for (LinkedNode one : nodes) {
            for (int other = 0; other < count; other++) {
                one.endpoint.reach(other, nodes.get(other).endpoint.address());
            }
        }
        nodes.forEach(node -> node.start(new Tree(count, fanOut), TIMING));
    }

    @AfterEach
    void end() {
        nodes.reversed().forEach(LinkedNode::close);
    }

    private LinkedNode.Ended call(int bytes) throws InterruptedException {
        nodes.getFirst().call(new byte[bytes]);
        LinkedNode.Ended ended = nodes.getFirst().ended.poll(SECONDS, TimeUnit.SECONDS);
        assertNotNull(ended, "the call did not end");
        assertEquals(bytes, ended.body().length);
        return ended;
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"2, 2", "16, 4", "48, 16"})
    void everyNodeAnswersEachCallOnce(int count, int fanOut) throws Exception {
        start(count, fanOut);
        for (int round = 0; round < 10; round++) {
            LinkedNode.Ended ended = call(round * 10_000);
            assertNull(ended.tally().failure());
            assertEquals(count, ended.tally().nodes());
            assertArrayEquals(new long[]{(long) count * (count - 1) / 2, (long) count * round * 10_000},
                    ended.tally().sums());
        }
        nodes.forEach(node -> assertEquals(List.of(), node.ends));
    }

    @Test
    void aNodeInTheMiddleThatDiesIsMissedAndTheOthersGoOn() throws Exception {
        start(21, 4); // node 1 has the children 5 to 8
        assertEquals(21, call(100).tally().nodes());
        nodes.get(1).close();
        // Its children may come to the root a moment after a call has ended without them; from then on they are always
        // there.
        int answered = 0;
        for (int bytes = 200; answered < 20; bytes++) {
            LinkedNode.Ended without = call(bytes);
            assertTrue(without.tally().nodes() >= answered && without.tally().nodes() <= 20,
                    without.tally().toString());
            answered = without.tally().nodes();
        }
        assertEquals(20 * 21 / 2 - 1, call(300).tally().sums()[0]);
        nodes.stream().filter(node -> node != nodes.get(1)).forEach(node -> assertEquals(List.of(), node.ends));
    }

    @Tag("slow")
    @Test
    void aCoordinatorThatDiesIsNoticedByAll() throws Exception {
        start(10, 3);
        assertEquals(10, call(10).tally().nodes());
        nodes.getFirst().close();
        for (LinkedNode node : nodes.subList(1, 10)) {
            while (node.ends.isEmpty()) {
                Thread.sleep(10); // the test's time limit bounds it
            }
        }
    }

    @Test
    void aShortPartitionLosesNobody() throws Exception {
        start(4, 3);
        try (CuttingProxy down = new CuttingProxy(nodes.get(1).endpoint.address(), 0);
                CuttingProxy up = new CuttingProxy(nodes.get(0).endpoint.address(), 0)) {
            down.cutAtRandom(false);
            up.cutAtRandom(false);
            nodes.get(0).endpoint.reach(1, down.address());
            nodes.get(1).endpoint.reach(0, up.address());
            assertEquals(4, call(10).tally().nodes());
            down.swallow(true);
            up.swallow(true);
            nodes.getFirst().call(new byte[20]);
            assertNull(nodes.getFirst().ended.poll(500, TimeUnit.MILLISECONDS),
                    "a node that cannot be reached has answered");
            down.swallow(false);
            up.swallow(false);
            LinkedNode.Ended ended = nodes.getFirst().ended.poll(SECONDS, TimeUnit.SECONDS);
            assertNotNull(ended);
            // three, if the machine was too slow for the lease
            assertTrue(ended.tally().nodes() >= 3, ended.tally().toString());
        }
    }
}
