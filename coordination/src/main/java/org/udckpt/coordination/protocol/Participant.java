package org.udckpt.coordination.protocol;

import org.udckpt.coordination.tree.TreeNode;

/**
 * One node's part of checkpoints: does what it is asked, in the order of the phases, and by itself what must be done
 * when nobody asks any more. It may remove its part until it has said that it is durable; from then on only the
 * coordinator's ABORT removes it.
 */
public final class Participant {
    private final TreeNode treeNode;
    private final Ranks ranks;
    private long checkpoint;
    /** From the first word of it until its end is known and done: a phase that failed may have left anything behind. */
    private boolean open;
    /** The last phase that has ended well; null before the first one. */
    private Op reached;
    private Request doing;
    /** Begun when {@link #doing} has ended. */
    private Request next;
    private long call;

    Participant(TreeNode treeNode, Ranks ranks) {
        this.treeNode = treeNode;
        this.ranks = ranks;
    }

    /**
     * Number of the checkpoint whose part is durable, while the node does not know whether it was committed; else 0.
     */
    public long inDoubt() {
        return open && reached == Op.WRITE && !isEnding() ? checkpoint : 0;
    }

    void asked(Request request, long id, long now) {
        call = id;
        String wrong = refusal(request);
        if (wrong != null) {
            treeNode.answer(id, request + " " + wrong, new long[0], now);
        } else if (isDone(request)) {
            treeNode.answer(id, null, new long[0], now);
        } else if (request.op() == Op.END && open && inDoubt() == 0) {
            next = request; // when nothing of the part is left, or it is known to stay
            if (!isEnding()) {
                begin(new Request(Op.ABORT, checkpoint, 0), now);
            }
        } else if (!request.equals(doing)) {
            // else the coordinator asks anew, and gets the answer of what it asked before
            if (request.op() == Op.SUSPEND) {
                checkpoint = request.checkpoint();
                open = true;
                reached = null;
            }
            begin(request, now);
        }
    }

    /**
     * What {@link Ranks#begin} began has ended; of something that was ended by an ABORT or END meanwhile: nothing
     * happens.
     *
     * @param failure what failed, or null
     * @param counts of SUSPEND: processes that use a GPU, or none; of DRAIN: messages sent and received
     */
    public void done(Request request, String failure, long[] counts, long now) {
        if (!request.equals(doing)) {
            return;
        }
        doing = null;
        switch (request.op()) {
            case SUSPEND, DRAIN, SNAPSHOT, RESUME, WRITE -> {
                if (failure == null) {
                    reached = request.op();
                }
            }
            case COMMIT, ABORT -> open = failure != null;
            case END, FILES, START, CONNECT, OPEN -> {
            }
            case EXCHANGE -> throw new IllegalStateException("an exchange of tables is no work of ranks");
        }
        if (next != null) {
            begin(next, now);
        } else {
            treeNode.answer(call, failure, counts, now);
        }
    }

    void over(String why, long now) {
        if (inDoubt() == 0 && open && !isEnding()) {
            begin(new Request(Op.ABORT, checkpoint, 0), now);
        }
        ranks.over(why, inDoubt(), now);
    }

    private void begin(Request request, long now) {
        doing = request;
        next = request.equals(next) ? null : next;
        ranks.begin(request, now);
    }

    /** Whether the checkpoint's end is known here. */
    private boolean isEnding() {
        return doing != null && (doing.op() == Op.COMMIT || doing.op() == Op.ABORT || doing.op() == Op.END);
    }

    /** An end that this node knows already, or of a checkpoint that it never heard of. */
    private boolean isDone(Request request) {
        return (request.op() == Op.COMMIT || request.op() == Op.ABORT) && !(open && checkpoint == request.checkpoint())
                && !isEnding();
    }

    /** Why it cannot be done now, or null. */
    private String refusal(Request request) {
        Op op = request.op();
        boolean after = switch (op) {
            case SUSPEND, FILES, START, CONNECT, OPEN -> doing == null && !open;
            case DRAIN -> reached == Op.SUSPEND || reached == Op.DRAIN;
            case SNAPSHOT -> reached == Op.DRAIN;
            case RESUME -> reached == Op.SNAPSHOT;
            case WRITE -> reached == Op.RESUME;
            case COMMIT -> inDoubt() == request.checkpoint() || isDone(request) || request.equals(doing);
            case ABORT, END -> true;
            case EXCHANGE -> false;
        };
        boolean own = op == Op.SUSPEND || op.ordinal() > Op.WRITE.ordinal()
                || request.checkpoint() == checkpoint && doing == null;
        return after && own ? null : "was asked of a node that has come to " + reached + " of checkpoint " + checkpoint
                + (doing == null ? "" : " and does " + doing);
    }
}
