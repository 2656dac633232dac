package org.udckpt.cluster;

import java.util.concurrent.CompletableFuture;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * A node's way to send tables straight to another, beside the tree
 * ({@link org.udckpt.transport.TransportEndpoint#table}). From any thread but the node's, since it waits for room.
 */
@FunctionalInterface
public interface TableSender {
    /**
     * @param table stays as it is until the answer is complete
     * @return complete when the receiver has taken all of it; fails when it refuses the table, or was given up
     */
    CompletableFuture<Void> table(int to, byte[] subject, VectorSchemaRoot table) throws InterruptedException;
}
