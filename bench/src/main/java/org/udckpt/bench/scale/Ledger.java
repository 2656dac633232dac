package org.udckpt.bench.scale;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.coordination.protocol.CheckpointOutcome;
import org.udckpt.coordination.protocol.Op;
import org.udckpt.coordination.protocol.Request;

/**
 * What really happened to ranks and parts, as an onlooker sees it who is everywhere at once, and what must hold of it
 * at every moment. Whoever is told something that must not be throws {@link Violation}.
 */
final class Ledger {
    /** Something that must never happen. */
    static final class Violation extends RuntimeException {
        private static final long serialVersionUID = 1;

        Violation(String message) {
            super(message);
        }
    }

    private enum Part {
        NONE, WRITING, DURABLE, REMOVED
    }

    /** When each node did what for one checkpoint; -1: not. */
    private static final class History {
        final long[] suspended;
        final long[] copying;
        final long[] copied;
        final long[] released;
        final Part[] parts;
        int underWay; // messages of the job, while a copy was made
        boolean committed;
        CheckpointOutcome outcome;

        History(int nodes) {
            suspended = never(nodes);
            copying = never(nodes);
            copied = never(nodes);
            released = never(nodes);
            parts = new Part[nodes];
            java.util.Arrays.fill(parts, Part.NONE);
        }

        private static long[] never(int nodes) {
            long[] times = new long[nodes];
            java.util.Arrays.fill(times, -1);
            return times;
        }
    }

    private final int nodes;
    private final World world;
    private final Map<Long, History> checkpoints = new HashMap<>();
    private final long[] stoppedSince;
    private final boolean[] ended;
    private final long longestStop;
    private long lastCommitted;
    private long lastEvent;
    private int underWay;

    /** @param longestStop nanoseconds for which no node may stand still */
    Ledger(World world, long longestStop) {
        this.world = world;
        this.nodes = world.count();
        this.longestStop = longestStop;
        stoppedSince = new long[nodes];
        java.util.Arrays.fill(stoppedSince, -1);
        ended = new boolean[nodes];
    }

    /** A message of the job has left ({@code 1}) or arrived ({@code -1}). */
    void underWay(int change) {
        underWay += change;
    }

    boolean isStopped(int node) {
        return stoppedSince[node] >= 0;
    }

    boolean isEnded(int node) {
        return ended[node];
    }

    /** Its agent, or all of it, is dead: nobody stops its ranks any more. */
    void dead(int node) {
        stoppedSince[node] = -1;
    }

    /** When something happened last to ranks or parts. */
    long lastEvent() {
        return lastEvent;
    }

    void begun(int node, Request request) {
        lastEvent = world.now();
        History history = history(request.checkpoint());
        long now = world.now();
        switch (request.op()) {
            case SUSPEND -> {
                if (stoppedSince[node] >= 0 || ended[node]) {
                    throw new Violation(request + " at node " + node + ", whose ranks "
                            + (ended[node] ? "have ended" : "stand still already"));
                }
                stoppedSince[node] = now;
            }
            case SNAPSHOT -> {
                history.copying[node] = now;
                history.underWay = Math.max(history.underWay, underWay);
            }
            case RESUME -> history.released[node] = now;
            case WRITE -> {
                if (stoppedSince[node] >= 0) {
                    throw new Violation(request + " at node " + node + ", whose ranks stand still");
                }
                history.parts[node] = Part.WRITING;
            }
            case DRAIN, COMMIT, ABORT, FILES, START, EXCHANGE, CONNECT, OPEN, END -> {
            }
        }
    }

    void ended(int node, Request request) {
        lastEvent = world.now();
        History history = history(request.checkpoint());
        switch (request.op()) {
            case SUSPEND -> history.suspended[node] = world.now();
            case SNAPSHOT -> history.copied[node] = world.now();
            case RESUME -> stoppedSince[node] = -1;
            case WRITE -> history.parts[node] = Part.DURABLE;
            case ABORT -> {
                stoppedSince[node] = -1;
                if (history.committed) {
                    throw new Violation("node " + node + " has removed its part of checkpoint " + request.checkpoint()
                            + ", which is committed");
                }
                history.parts[node] = Part.REMOVED;
            }
            case END -> {
                stoppedSince[node] = -1;
                ended[node] = true;
            }
            case COMMIT -> {
                if (!history.committed) {
                    throw new Violation(
                            "node " + node + " was told that checkpoint " + request.checkpoint() + " is committed");
                }
            }
            case DRAIN, FILES, START, EXCHANGE, CONNECT, OPEN -> {
            }
        }
    }

    /** The manifest exists from now on. */
    void committed(long checkpoint) {
        History history = history(checkpoint);
        if (history.committed || checkpoint <= lastCommitted) {
            throw new Violation("checkpoint " + checkpoint + " is committed after " + lastCommitted);
        }
        history.committed = true;
        lastCommitted = checkpoint;
        if (history.underWay != 0) {
            throw new Violation("checkpoint " + checkpoint + " is committed, and " + history.underWay
                    + " messages of the job were under way when it was taken");
        }
        long firstCopy = Long.MAX_VALUE;
        long lastCopy = 0;
        for (int node = 0; node < nodes; node++) {
            if (history.parts[node] != Part.DURABLE) {
                throw new Violation("checkpoint " + checkpoint + " is committed, and the part of node " + node + " is "
                        + history.parts[node]);
            }
            firstCopy = Math.min(firstCopy, history.copying[node]);
            lastCopy = Math.max(lastCopy, history.copied[node]);
        }
        for (int node = 0; node < nodes; node++) {
            if (history.suspended[node] < 0 || history.suspended[node] > firstCopy
                    || history.released[node] < lastCopy) {
                throw new Violation(
                        ("checkpoint %d is no cut: node %d was suspended at %d and released at %d, copies were made "
                                + "from %d to %d")
                                .formatted(checkpoint, node, history.suspended[node], history.released[node],
                                        firstCopy,
                                        lastCopy));
            }
        }
    }

    void outcome(CheckpointOutcome outcome) {
        History history = history(outcome.checkpoint());
        if (history.outcome != null || history.committed != outcome.committed()) {
            throw new Violation("checkpoint " + outcome.checkpoint() + " ends as " + outcome + " after "
                    + history.outcome + ", committed: " + history.committed);
        }
        history.outcome = outcome;
    }

    /** After everything that happens at a node. */
    void check(int node) {
        if (stoppedSince[node] >= 0 && !world.isDead(node) && world.now() - stoppedSince[node] > longestStop) {
            throw new Violation(
                    "node " + node + " stands still for " + (world.now() - stoppedSince[node]) / 1_000_000 + " ms");
        }
    }

    /**
     * When nothing has gone wrong for long enough: nobody stands still, nobody waits, and no checkpoint is in between.
     */
    void atRest() {
        boolean rootLives = !world.isDead(0);
        if (rootLives && world.node(0).coordinator().isBusy()) {
            throw new Violation("the coordinator still waits");
        }
        for (int node = 0; node < nodes; node++) {
            if (!world.isDead(node)) {
                atRest(node, rootLives);
            }
        }
        checkpoints.forEach((number, history) -> {
            if (rootLives && number > 0 && history.outcome == null) {
                throw new Violation("checkpoint " + number + " never ended");
            }
            for (int node = 0; node < nodes; node++) {
                if (history.committed && history.parts[node] != Part.DURABLE) {
                    throw new Violation("checkpoint " + number + " is committed, and the part of node " + node
                            + " has become " + history.parts[node]);
                }
            }
        });
    }

    private void atRest(int node, boolean rootLives) {
        if (stoppedSince[node] >= 0) {
            throw new Violation("node " + node + " stands still at the end");
        }
        boolean over = world.node(node).treeNode().isOver();
        if (!rootLives && !over) {
            throw new Violation("node " + node + " has not noticed that there is no coordinator");
        }
        long doubt = world.node(node).participant().inDoubt();
        List<Long> left = new ArrayList<>();
        checkpoints.forEach((number, history) -> {
            boolean kept = history.parts[node] == Part.WRITING || history.parts[node] == Part.DURABLE;
            if (kept && !history.committed && !((over || ended[node]) && number == doubt)) {
                left.add(number);
            }
        });
        if (!left.isEmpty()) {
            throw new Violation("node " + node + " has parts left of " + left + ", which are not committed");
        }
        if (doubt != 0 && !over && !ended[node]) {
            throw new Violation("node " + node + " is in doubt of checkpoint " + doubt + ", and has a coordinator");
        }
    }

    private History history(long checkpoint) {
        return checkpoints.computeIfAbsent(checkpoint, _ -> new History(nodes));
    }
}
