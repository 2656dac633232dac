package org.udckpt.coordination.tree;

import java.util.Set;
import java.util.TreeSet;

/**
 * One node's share of the call that is under way, until it has answered: who is still to answer, and what was said so
 * far.
 */
final class Collective {
    private final Call call;
    private final int self;
    private final int level;
    private final Set<Integer> waiting;
    private final long begun;
    private final long deadline;
    private boolean ownPending = true;
    private CallResult tally = CallResult.NONE;
    private boolean answered;
    private boolean told;

    Collective(Call call, int self, int level, Set<Integer> children, long now) {
        this.call = call;
        this.self = self;
        this.level = level;
        this.waiting = new TreeSet<>(children);
        this.begun = now;
        this.deadline = now + call.budget();
    }

    Call call() {
        return call;
    }

    boolean isAnswered() {
        return answered;
    }

    /** The first time that it is asked after {@link #isAnswered}. */
    boolean isNewlyAnswered() {
        boolean news = answered && !told;
        told = answered;
        return news;
    }

    /** Only when {@link #isAnswered}. */
    CallResult tally() {
        return tally;
    }

    /** Due to fail for being late, unless answered. */
    long deadline() {
        return deadline;
    }

    /** The call as it goes down: those below give up before this node does, so that it learns who was late. */
    Call down(long now, long margin) {
        long remaining = Math.max(1, deadline - now);
        return call.within(Math.max(remaining / 2 + 1, remaining - margin));
    }

    void own(CallResult.Failure failure, long[] sums, long now) {
        if (ownPending) {
            ownPending = false;
            add(CallResult.of(self, now - begun, failure, sums), now);
        }
    }

    void child(int from, CallResult said, long now) {
        if (waiting.remove(from)) {
            add(said, now);
        }
    }

    /**
     * A child that came in the middle. A call of all cannot tell whether it was counted before; another one waits for
     * it too.
     */
    void adopted(int child, long now) {
        if (answered) {
            return;
        }
        if (call.all()) {
            fail(new CallResult.Failure(child, "lost its parent during a call"), now);
        } else {
            waiting.add(child);
        }
    }

    /** The answer goes to another node above: counted twice it could stand for one that is missing. */
    void again() {
        tally = tally.failed(new CallResult.Failure(self, "lost its parent after its answer, which may be counted "
                + "twice"));
    }

    void lost(int node, String why, long now) {
        waiting.remove(node);
        if (call.all()) {
            fail(new CallResult.Failure(node, why), now);
        } else {
            check(now);
        }
    }

    void late(long now) {
        if (!answered && now - deadline >= 0) {
            int who = ownPending || waiting.isEmpty() ? self : waiting.iterator().next();
            fail(new CallResult.Failure(who, (ownPending ? "its own work" : "no answer from below: nodes " + waiting)
                    + " took longer than " + call.budget() / 1_000_000 + " ms"), now);
        }
    }

    private void add(CallResult said, long now) {
        if (answered) {
            return;
        }
        tally = tally.and(said);
        check(now);
    }

    private void fail(CallResult.Failure failure, long now) {
        if (!answered) {
            tally = tally.failed(failure);
            finish(now);
        }
    }

    private void check(long now) {
        if (!answered && (!ownPending && waiting.isEmpty() || call.all() && tally.failure() != null)) {
            finish(now);
        }
    }

    private void finish(long now) {
        answered = true;
        tally = tally.level(level, now - begun);
    }
}
