package org.udckpt.cluster;

import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Who gets tables that nodes send to this one. In a link's thread: those of one node one after the other, those of
 * several at once.
 */
@FunctionalInterface
interface TableReader {
    /**
     * @param table is closed after the return
     * @throws IllegalArgumentException if no node would have sent it: it is refused, and so said
     */
    void table(int from, byte[] subject, VectorSchemaRoot table);
}
