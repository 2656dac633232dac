package org.udckpt.coordination.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.udckpt.coordination.tree.CallResult;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.coordination.tree.Tree;
import org.udckpt.coordination.tree.Wires;

/** What the root decides when ends of checkpoints fail. */
class CoordinatorTest {
    private static final int NODES = 3;

    /** Does everything at once, but for what is to fail. */
    private final class Node implements Ranks {
        private final NodeProtocol part;
        private final List<Op> asked = new ArrayList<>();
        private Op failing;

        Node(int number) {
            part = new NodeProtocol(number, 1, new Tree(NODES, 2), new Timing(10, 1000, 1000), Budgets.USUAL,
                    wires.links(number), this, number == 0 ? new Job() : null, 0);
            wires.put(number, part.treeNode());
        }

        @Override
        public void begin(Request request, long now) {
            asked.add(request.op());
            boolean fails = request.op() == failing;
            failing = fails ? null : failing;
            part.participant().done(request, fails ? "fails" : null,
                    request.op() == Op.DRAIN ? new long[2] : new long[0], now);
        }

        @Override
        public void over(String why, long inDoubt, long now) {
            throw new IllegalStateException(why);
        }
    }

    private final class Job implements CoordinatorListener {
        @Override
        public void commit(long checkpoint, long now) {
            nodes.getFirst().part.coordinator().manifest(checkpoint, null, now);
        }

        @Override
        public void ended(CheckpointOutcome outcome, long now) {
            outcomes.add(outcome);
        }

        @Override
        public void started(CallResult tally, long now) {
            throw new IllegalStateException("no tables are exchanged");
        }

        @Override
        public void jobEnded(CallResult tally, long now) {
            throw new IllegalStateException("nobody ends the job");
        }

        @Override
        public void lost(int node, long now) {
            throw new IllegalStateException("all live");
        }
    }

    private final Wires wires = new Wires(new Random(1), NODES, 0, 0);
    private final List<Node> nodes = new ArrayList<>();
    private final List<CheckpointOutcome> outcomes = new ArrayList<>();

    @BeforeEach
    void start() {
        for (int node = 0; node < NODES; node++) {
            nodes.add(new Node(node));
        }
    }

    @Test
    void anAbortThatFailedIsNamedAndAskedAgain() throws MalformedMessage {
        failedAbort();
        assertTrue(outcomes.getFirst().why().contains("SUSPEND: node 1: fails"), outcomes.getFirst().why());
        assertTrue(outcomes.getFirst().why().contains("node 2: fails"), outcomes.getFirst().why());
        nodes.get(2).asked.clear();
        checkpoint(2);
        assertEquals(Op.ABORT, nodes.get(2).asked.getFirst());
        assertTrue(outcomes.get(1).committed(), outcomes.get(1).why());
    }

    @Test
    void anAbortBeforeTheFirstPhaseIsRemembered() throws MalformedMessage {
        failedAbort();
        Coordinator coordinator = nodes.getFirst().part.coordinator();
        nodes.forEach(node -> node.asked.clear());
        coordinator.checkpoint(2, "", wires.now());
        coordinator.abort("nobody wants it", wires.now());
        wires.step(5);
        assertEquals("nobody wants it", outcomes.get(1).why());
        nodes.forEach(node -> assertFalse(node.asked.contains(Op.SUSPEND)));
        checkpoint(3);
        assertTrue(outcomes.get(2).committed(), outcomes.get(2).why());
    }

    private void failedAbort() throws MalformedMessage {
        nodes.get(1).failing = Op.SUSPEND;
        nodes.get(2).failing = Op.ABORT;
        checkpoint(1);
        assertFalse(outcomes.getFirst().committed());
    }

    private void checkpoint(long number) throws MalformedMessage {
        int before = outcomes.size();
        nodes.getFirst().part.coordinator().checkpoint(number, "", wires.now());
        for (int steps = 0; steps < 20 && outcomes.size() == before; steps++) {
            wires.step(5);
        }
        assertEquals(before + 1, outcomes.size());
    }
}
