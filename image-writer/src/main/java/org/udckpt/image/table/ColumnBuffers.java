package org.udckpt.image.table;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.RecordBatch;
import org.udckpt.image.ImageError;

/** Hands out the nodes and buffers of a record batch in the order of the columns, each checked against the body. */
public final class ColumnBuffers {
    private final RecordBatch batch;
    private final ByteBuffer body;
    private final Path file;
    private final long where;
    private int node;
    private int buffer;

    ColumnBuffers(RecordBatch batch, ByteBuffer body, Path file, long where) {
        this.batch = batch;
        this.body = body;
        this.file = file;
        this.where = where;
    }

    /** The next node's number of values, which must be {@code expected} where that is not negative. */
    public int node(int expected, String column) throws ImageError {
        if (node >= batch.nodesLength()) {
            throw wrong(column, "field node is missing");
        }
        FieldNode next = batch.nodes(node++);
        long length = next.length();
        if (length < 0 || length > 8L * body.limit() || length > Integer.MAX_VALUE
                || expected >= 0 && length != expected) {
            throw wrong(column, "unexpected number of values: " + length);
        }
        if (next.nullCount() < 0 || next.nullCount() > length) {
            throw wrong(column, "null count " + next.nullCount() + " is out of range (0 to " + length + ")");
        }
        return (int) length;
    }

    /** The next buffer, of at least {@code atLeast} bytes. */
    public ByteBuffer buffer(long atLeast, String column) throws ImageError {
        if (buffer >= batch.buffersLength()) {
            throw wrong(column, "buffer is missing");
        }
        Buffer next = batch.buffers(buffer++);
        long offset = next.offset();
        long length = next.length();
        if (offset < 0 || length < atLeast || offset > body.limit() || length > body.limit() - offset) {
            throw wrong(column,
                    "buffer of " + length + " bytes at " + offset + ", expected at least " + atLeast + " bytes within "
                            + body.limit());
        }
        return body.slice((int) offset, (int) length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** A validity bitmap of {@code count} values; null where all are valid (Arrow allows to leave it out). */
    public ByteBuffer validity(int count, String column) throws ImageError {
        ByteBuffer bits = buffer(0, column);
        if (bits.limit() == 0) {
            return null;
        }
        if (bits.limit() < (count + 7L) / 8) {
            throw wrong(column, "validity bitmap of " + bits.limit() + " bytes is too short for " + count + " values");
        }
        return bits;
    }

    /** Behind the last column. */
    public void checkAllUsed() throws ImageError {
        if (node != batch.nodesLength() || buffer != batch.buffersLength()) {
            throw wrong("(last)", (batch.nodesLength() - node) + " field nodes and " + (batch.buffersLength() - buffer)
                    + " buffers too many");
        }
    }

    /** An error about a column of this batch. */
    public ImageError.Corrupt wrong(String column, String what) {
        return new ImageError.Corrupt(file, where, "column '" + column + "': " + what);
    }
}
