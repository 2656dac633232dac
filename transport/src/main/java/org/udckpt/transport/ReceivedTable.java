package org.udckpt.transport;

import org.apache.arrow.flight.CallStatus;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.util.ValueVectorUtility;
import org.apache.arrow.vector.util.VectorSchemaRootAppender;

/** Puts a stream's record batches together; each is looked through before a value of it is used. */
final class ReceivedTable {
    private ReceivedTable() {}

    /**
     * @param taken is called after each batch
     * @return the table, which the caller closes; it is whole and its offsets lie inside of its buffers
     */
    static VectorSchemaRoot read(FlightStream stream, BufferAllocator allocator, long limit, Runnable taken) {
        VectorSchemaRoot table = VectorSchemaRoot.create(stream.getSchema(), allocator);
        boolean whole = false;
        try {
            while (stream.next()) {
                VectorSchemaRoot batch = stream.getRoot();
                batch.getFieldVectors().forEach(ValueVectorUtility::validateFull);
                VectorSchemaRootAppender.append(false, table, batch);
                if (table.getFieldVectors().stream().mapToLong(vector -> vector.getBufferSize()).sum() > limit) {
                    throw CallStatus.RESOURCE_EXHAUSTED.withDescription("a table of more than " + limit + " bytes")
                            .toRuntimeException();
                }
                taken.run();
            }
            whole = true;
            return table;
        } finally {
            if (!whole) {
                table.close();
            }
        }
    }
}
