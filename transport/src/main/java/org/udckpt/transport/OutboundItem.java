package org.udckpt.transport;

import java.util.concurrent.CompletableFuture;
import org.apache.arrow.vector.VectorSchemaRoot;

/** What waits in an {@link OutboundChannel}. */
sealed interface OutboundItem {
    /** In memory, about. */
    long bytes();

    record Message(byte[] content) implements OutboundItem {
        @Override
        public long bytes() {
            return Envelope.PART_BYTES + content.length;
        }
    }

    /** @param taken completed when the receiver has it whole; until then nobody changes or closes the table */
    record Table(byte[] subject, VectorSchemaRoot table, long bytes, CompletableFuture<Void> taken)
            implements
                OutboundItem {
        static Table of(byte[] subject, VectorSchemaRoot table) {
            long bytes = table.getFieldVectors().stream().mapToLong(vector -> vector.getBufferSize()).sum();
            return new Table(subject, table, bytes, new CompletableFuture<>());
        }
    }
}
