package org.udckpt.coordination.tree;

/**
 * A collective call: from the root to all nodes, each does its work, and what they say comes back as one
 * {@link CallResult}.
 *
 * @param id     from 1, grows from call to call in an incarnation; a later call ends an earlier one
 * @param op     what is to be done, as the nodes' parts understand it, 0..255
 * @param all    whether it fails as soon as one node is lost or failed; else those who live do it
 * @param budget nanoseconds until it has failed for being late
 * @param body   what else the parts must know; nobody changes it
 */
public record Call(long id, int op, boolean all, long budget, byte[] body) {
    public Call {
        if (id < 1 || op < 0 || op > 255 || budget <= 0) {
            throw new IllegalArgumentException("call " + id + ": op " + op + ", budget " + budget + " ns");
        }
    }

    Call within(long remaining) {
        return new Call(id, op, all, remaining, body);
    }

    @Override
    public String toString() {
        return "call " + id + " (op " + op + ")";
    }
}
