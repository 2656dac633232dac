package org.udckpt.cluster;

import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Receives the tables that nodes send to this one, in a link's thread: tables of one node one after the other, tables
 * of several nodes at once.
 */
@FunctionalInterface
interface TableReader {
    /**
     * @param table is closed after the return
     * @throws IllegalArgumentException if no node would have sent it: it is refused, and so said
     */
    void table(int from, byte[] subject, VectorSchemaRoot table);
}
