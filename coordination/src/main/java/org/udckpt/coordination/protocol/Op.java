package org.udckpt.coordination.protocol;

/**
 * What the coordinator asks of all nodes: the phases of a checkpoint in their order, how one ends, how an incarnation
 * begins, and its end.
 */
public enum Op {
    /** Close the gates of all ranks: none is inside a verb, or enters one, until RESUME or ABORT. */
    SUSPEND,
    /**
     * Bring reliable connections to rest, and say what was sent and received on them since the job's start: two counts,
     * 0 where there are none. Repeated until the sums agree.
     */
    DRAIN,
    /** Take the copy-on-write copies. Nothing of the job is under way between ranks now. */
    SNAPSHOT,
    /** Open the gates: all nodes have their copies. */
    RESUME,
    /**
     * Write this node's part of the image. Done when it is durable; from then on only the coordinator may have it
     * removed.
     */
    WRITE,
    /** The manifest is durable, and the part belongs to a checkpoint. */
    COMMIT,
    /**
     * The checkpoint is not to be: ranks run, nothing is left of the part. Asked at any time, also while another phase
     * is being worked on, which it ends.
     */
    ABORT,
    /** After a restart: say where the ranks are now, and learn where their peers are. */
    EXCHANGE,
    /** After a restart, before any process is there: put the job's files back. */
    FILES,
    /**
     * The incarnation begins: the ranks are started, or restored behind closed gates with their verbs objects made
     * again.
     */
    START,
    /** After a restart, when all addresses are known: connect the queue pairs that had a peer. */
    CONNECT,
    /** After a restart, when all are connected: open the gates. */
    OPEN,
    /** The job is over at all nodes: end its ranks. */
    END;

    private static final Op[] ALL = values();

    /** Whether it needs every node. */
    public boolean needsAll() {
        return switch (this) {
            case SUSPEND, DRAIN, SNAPSHOT, RESUME, WRITE, FILES, START, EXCHANGE, CONNECT, OPEN -> true;
            case COMMIT, ABORT, END -> false;
        };
    }

    /** @throws IllegalArgumentException if there is none of that number */
    static Op of(int number) {
        if (number < 0 || number >= ALL.length) {
            throw new IllegalArgumentException("no op has the number " + number);
        }
        return ALL[number];
    }
}
