package org.udckpt.transport;

import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Takes what arrives at an {@link TransportEndpoint}: messages of one node in order and one at a time, and so its
 * tables; the two kinds, and those of several nodes, at once. A method may wait: the sender
 * is then not answered, and sends nothing more until it is (back pressure).
 */
public interface Inbox {
    /**
     * @param from number of the node that sent it: a holder of the job's credential says so; below the number of nodes
     *     and not this one
     * @param message at most {@link org.udckpt.coordination.tree.TreeTransport#MAX_MESSAGE_BYTES} long
     */
    void message(int from, byte[] message) throws InterruptedException;

    /**
     * A whole table; never a part of one.
     *
     * @param subject what the sender says that it is of
     * @param table   validated; is closed after the return
     */
    void table(int from, byte[] subject, VectorSchemaRoot table) throws InterruptedException;
}
