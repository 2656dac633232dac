package org.udckpt.coordination.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.udckpt.coordination.tree.CallResult;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.coordination.tree.Tree;
import org.udckpt.coordination.tree.Wires;

/** What the root decides when ends of checkpoints fail. */
class CoordinatorTest {
    private static final int NODES = 3;
    private static final long BUDGET = 100, FOR_DEVICES = 500;
    private static final Budgets BUDGETS =
            new Budgets(BUDGET, BUDGET, BUDGET, BUDGET, FOR_DEVICES, BUDGET, BUDGET, BUDGET, BUDGET);

    /** Does everything at once, but for what is to fail. */
    private final class Node implements Ranks {
        private final NodeProtocol part;
        private final List<Op> asked = new ArrayList<>();
        private Op failing;
        private Op hanging;
        private long gpus;

        Node(int number) {
            part = new NodeProtocol(number, 1, new Tree(NODES, 2), new Timing(10, 1000, 1000), BUDGETS,
                    wires.links(number), this, number == 0 ? new Job() : null, 0);
            wires.put(number, part.treeNode());
        }

        @Override
        public void begin(Request request, long now) {
            asked.add(request.op());
            boolean fails = request.op() == failing;
            failing = fails ? null : failing;
            if (request.op() == hanging) {
                return;
            }
            part.participant().done(request, fails ? "fails" : null, switch (request.op()) {
                case DRAIN -> new long[2];
                case SUSPEND -> new long[]{gpus};
                default -> new long[0];
            }, now);
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

    @ParameterizedTest
    @EnumSource(value = Op.class, names = {"SNAPSHOT", "RESUME"})
    void onlyWhatMovesTheMemoryOfGpusMayTakeThatLong(Op phase) throws MalformedMessage {
        nodes.get(1).hanging = phase;
        long without = timeOfFailure(1);
        assertTrue(without > BUDGET / 2 && without < 2 * BUDGET, () -> without + " without GPUs");
        nodes.get(2).gpus = 1;
        long with = timeOfFailure(2);
        assertTrue(with > FOR_DEVICES / 2 && with < FOR_DEVICES + BUDGET, () -> with + " with GPUs");
        nodes.get(2).gpus = 0;
        long again = timeOfFailure(3);
        assertTrue(again < 2 * BUDGET, () -> again + " without them again");
    }

    private long timeOfFailure(long number) throws MalformedMessage {
        int before = outcomes.size();
        long begun = wires.now();
        nodes.getFirst().part.coordinator().checkpoint(number, "", begun);
        while (outcomes.size() == before && wires.now() < begun + 2 * FOR_DEVICES) {
            wires.step(5);
        }
        assertFalse(outcomes.getLast().committed());
        return wires.now() - begun;
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
