package org.udckpt.transport;

import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;

/** A table in record batches of about a given size, one after the other in one root, as Flight wants them. */
final class TableBatches implements AutoCloseable {
    private final VectorSchemaRoot table;
    private final VectorSchemaRoot batch;
    private final VectorLoader loader;
    private final int rowsOfOne;
    private int row;

    TableBatches(VectorSchemaRoot table, long bytes) {
        this.table = table;
        batch = VectorSchemaRoot.create(table.getSchema(), table.getFieldVectors().isEmpty()
                ? null : table.getFieldVectors().getFirst().getAllocator());
        loader = new VectorLoader(batch);
        long all = Math.max(1, table.getFieldVectors().stream().mapToLong(vector -> vector.getBufferSize()).sum());
        rowsOfOne = (int) Math.max(1, Math.min(table.getRowCount(), table.getRowCount() * bytes / all));
    }

    VectorSchemaRoot root() {
        return batch;
    }

    /** Puts the next rows into the root. False: there are none. */
    boolean next() {
        if (row >= table.getRowCount()) {
            return false;
        }
        int rows = Math.min(rowsOfOne, table.getRowCount() - row);
        try (VectorSchemaRoot slice = table.slice(row, rows);
                ArrowRecordBatch content = new VectorUnloader(slice).getRecordBatch()) {
            loader.load(content);
        }
        row += rows;
        return true;
    }

    @Override
    public void close() {
        batch.close();
    }
}
