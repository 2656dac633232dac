package org.udckpt.coordination.protocol;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import org.udckpt.coordination.tree.Call;
import org.udckpt.coordination.tree.CallResult;
import org.udckpt.coordination.tree.TreeNode;

/**
 * The root's decisions: the phases of a checkpoint one after the other, the manifest once and only after all parts are
 * durable, ABORT after any failure before that. A pure state machine, with the {@link TreeNode} of node 0 for its
 * voice.
 */
public final class Coordinator {
    private enum State {
        IDLE, SETTLING, PHASES, MANIFEST, COMMITTING, ABORTING, STARTING, ENDING, ENDED
    }

    private final TreeNode root;
    private final Budgets budgets;
    private final CoordinatorListener owner;
    private State state = State.IDLE;
    private long checkpoint;
    private String order;
    /** Steps of an incarnation's beginning that are still to come. */
    private final Deque<Op> steps = new ArrayDeque<>();
    private Request asked;
    private long callBegun;
    private long drainBegun;
    private long[] drained;
    /** Whether any node has suspended processes that use a GPU. */
    private boolean gpus;
    private String why;
    private boolean endWanted;
    /** The checkpoint that the job's end has cut off: its owner removes it when nobody writes to it any more. */
    private CheckpointOutcome cut;
    /** The last checkpoint's end, while not all nodes have said that they know it. */
    private Request unsettled;
    private List<CheckpointOutcome.CallTime> calls = new ArrayList<>();

    public Coordinator(TreeNode root, Budgets budgets, CoordinatorListener owner) {
        this.root = root;
        this.budgets = budgets;
        this.owner = owner;
    }

    /** Whether something is under way. */
    public boolean isBusy() {
        return state != State.IDLE && state != State.ENDED;
    }

    /** Whether something may be begun. */
    public boolean isReady() {
        return state == State.IDLE;
    }

    /**
     * Begins a checkpoint; {@link CoordinatorListener#ended} tells its end.
     *
     * @param number in the catalogue, above 0 and never used before
     * @param text   what the nodes must know of the image to come: comes to {@link Ranks#begin} with SUSPEND
     */
    public void checkpoint(long number, String text, long now) {
        idle("checkpoint " + number);
        checkpoint = number;
        order = text;
        calls = new ArrayList<>();
        why = null;
        drained = null;
        gpus = false;
        if (unsettled != null) {
            state = State.SETTLING;
            ask(unsettled, now);
        } else {
            state = State.PHASES;
            ask(new Request(Op.SUSPEND, number, 0, order), now);
        }
    }

    /**
     * Begins the steps of an incarnation's beginning, one after the other until one fails;
     * {@link CoordinatorListener#started} tells their end.
     *
     * @param first of FILES, START, EXCHANGE, CONNECT, OPEN
     */
    public void start(long now, Op first, Op... then) {
        idle("an incarnation's beginning");
        state = State.STARTING;
        steps.clear();
        steps.addAll(List.of(then));
        ask(new Request(first, 0, 0), now);
    }

    /**
     * Ends the checkpoint that is under way, if it is not too late for that; one that has not been asked of anybody yet
     * is not begun.
     */
    public void abort(String reason, long now) {
        if (state == State.PHASES) {
            giveUp(reason, now);
        } else if (state == State.SETTLING) {
            why = reason;
        }
    }

    /** Ends the job at all nodes that live; a manifest that is being written is waited for. */
    public void end(long now) {
        if (state == State.MANIFEST) {
            endWanted = true;
        } else if (state != State.ENDING && state != State.ENDED) {
            State before = state;
            state = State.ENDING;
            ask(new Request(Op.END, 0, 0), now);
            switch (before) {
                case SETTLING, PHASES, ABORTING -> cut =
                        new CheckpointOutcome(checkpoint, false, why == null ? "the job was ended" : why, calls);
                case COMMITTING -> cut = new CheckpointOutcome(checkpoint, true, null, calls);
                case IDLE, STARTING, MANIFEST, ENDING, ENDED -> {
                }
            }
        }
    }

    /**
     * The manifest was written, or could not be.
     *
     * @param failure why it certainly does not exist, or null
     */
    public void manifest(long number, String failure, long now) {
        if (state != State.MANIFEST || number != checkpoint) {
            throw new IllegalStateException("manifest of checkpoint " + number + " in state " + state);
        }
        if (failure != null) {
            giveUp("the manifest could not be written: " + failure, now);
        } else {
            state = State.COMMITTING;
            unsettled = new Request(Op.COMMIT, checkpoint, 0);
            ask(unsettled, now);
        }
        if (endWanted) {
            end(now);
        }
    }

    /** A call has ended. */
    void ended(Call call, CallResult tally, long now) {
        if (asked == null || call.op() != asked.op().ordinal()) {
            throw new IllegalStateException(call + " has ended, and " + asked + " was asked");
        }
        CheckpointOutcome.CallTime time = new CheckpointOutcome.CallTime(asked, now - callBegun, tally);
        calls.add(time);
        owner.called(time, now);
        switch (state) {
            case PHASES -> phase(tally, now);
            case SETTLING -> {
                boolean settled = settled(tally);
                if (why != null) {
                    ended(false, why, now);
                } else if (settled) {
                    state = State.PHASES;
                    ask(new Request(Op.SUSPEND, checkpoint, 0, order), now);
                } else {
                    ended(false, "not all nodes have finished checkpoint " + asked.checkpoint() + failure(tally), now);
                }
            }
            case COMMITTING -> {
                settled(tally);
                ended(true, null, now);
            }
            case ABORTING -> {
                settled(tally);
                ended(false, tally.failure() == null ? why : why + "; the abort failed" + failure(tally), now);
            }
            case STARTING -> {
                if (tally.failure() == null && !steps.isEmpty()) {
                    ask(new Request(steps.remove(), 0, 0), now);
                } else {
                    state = State.IDLE;
                    owner.started(tally, now);
                }
            }
            case ENDING -> {
                state = State.ENDED;
                if (cut != null) {
                    owner.ended(cut, now);
                }
                owner.jobEnded(tally, now);
            }
            case IDLE, MANIFEST, ENDED -> throw new IllegalStateException(call + " has ended in state " + state);
        }
    }

    private void phase(CallResult tally, long now) {
        if (tally.failure() != null || tally.nodes() != root.tree().nodes()) {
            giveUp(asked.op() + ": " + (tally.failure() != null ? tally.failure()
                    : tally.nodes() + " of " + root.tree().nodes() + " nodes have answered"), now);
            return;
        }
        switch (asked.op()) {
            case SUSPEND -> {
                gpus = tally.sums().length > 0 && tally.sums()[0] > 0;
                drainBegun = now;
                ask(new Request(Op.DRAIN, checkpoint, 0), now);
            }
            case DRAIN -> drained(tally, now);
            case SNAPSHOT -> ask(new Request(Op.RESUME, checkpoint, 0), now);
            case RESUME -> ask(new Request(Op.WRITE, checkpoint, 0), now);
            case WRITE -> {
                state = State.MANIFEST;
                owner.commit(checkpoint, now);
            }
            case COMMIT, ABORT, FILES, START, EXCHANGE, CONNECT, OPEN,
                    END -> throw new IllegalStateException(asked + " is no phase");
        }
    }

    /**
     * All that was sent has arrived when the sums are equal and were the same in the round before: the nodes count at
     * different moments, so that one round alone could miss a message of one node and count it for another (F. Mattern,
     * Distributed Computing 2 (1987) 161-175).
     */
    private void drained(CallResult tally, long now) {
        long[] sums = tally.sums();
        boolean equal = sums.length == 2 && sums[0] == sums[1];
        if (equal && (sums[0] == 0 || Arrays.equals(sums, drained))) {
            ask(new Request(Op.SNAPSHOT, checkpoint, 0), now);
        } else if (sums.length != 2) {
            giveUp("DRAIN: " + sums.length + " counts instead of two", now);
        } else if (now - drainBegun >= budgets.drain()) {
            giveUp("DRAIN: %d messages were sent and %d received after %d rounds".formatted(sums[0], sums[1],
                    asked.round() + 1), now);
        } else {
            drained = sums;
            ask(new Request(Op.DRAIN, checkpoint, asked.round() + 1), now);
        }
    }

    private void giveUp(String reason, long now) {
        why = reason;
        state = State.ABORTING;
        unsettled = new Request(Op.ABORT, checkpoint, 0);
        ask(unsettled, now);
    }

    /**
     * Whether all nodes have done the last checkpoint's end: one that failed may have ranks that stand still, and is
     * asked again.
     */
    private boolean settled(CallResult tally) {
        boolean all = tally.failure() == null && tally.nodes() == root.tree().nodes();
        if (all) {
            unsettled = null;
        }
        return all;
    }

    private void ask(Request request, long now) {
        asked = request;
        callBegun = now;
        Op op = request.op();
        long budget = op == Op.DRAIN ? Math.max(1, drainBegun + budgets.drain() - now) : budgets.of(op, gpus);
        root.call(op.ordinal(), op.needsAll(), budget, request.encode(), now);
    }

    private void ended(boolean committed, String reason, long now) {
        state = State.IDLE;
        owner.ended(new CheckpointOutcome(checkpoint, committed, reason, calls), now);
    }

    private void idle(String what) {
        if (state != State.IDLE) {
            throw new IllegalStateException(what + " is asked for while the coordinator is " + state);
        }
    }

    private static String failure(CallResult tally) {
        return tally.failure() == null ? "" : ": " + tally.failure();
    }
}
