package org.udckpt.image.table;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.arrow.flatbuf.Block;
import org.apache.arrow.flatbuf.Footer;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;
import org.udckpt.image.ImageError;

/**
 * Reads an Arrow IPC file of a known schema. Arrow's own reader trusts the lengths and offsets that it finds; here
 * each is checked against the bytes that are there, and nothing native is touched, so a damaged file ends in an
 * {@link ImageError.Corrupt} and in nothing else.
 *
 * <p>Layout: Arrow columnar format, section "IPC File Format".
 */
final class ArrowDecoder<T> {
    private static final byte[] MAGIC = {'A', 'R', 'R', 'O', 'W', '1'};
    private static final int HEAD = 8;
    private static final int TAIL = 4 + MAGIC.length;
    private static final int CONTINUATION = -1;

    private final Class<T> type;
    private final RecordSchema schema;
    private final ByteBuffer bytes;
    private final Path file;
    private final List<T> rows = new ArrayList<>();

    ArrowDecoder(Class<T> type, RecordSchema schema, ByteBuffer bytes, Path file) {
        this.type = type;
        this.schema = schema;
        this.bytes = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        this.file = file;
    }

    List<T> rows() throws ImageError {
        try {
            read();
        } catch (IndexOutOfBoundsException | IllegalArgumentException | NullPointerException | AssertionError e) {
            // What the generated flatbuffers accessors throw when an offset leads out of the buffer or to nothing,
            // and what a record's constructor throws when it refuses the values.
            throw new ImageError.Corrupt(file, -1, "not a valid table: " + e.getMessage(), e);
        }
        return Collections.unmodifiableList(rows);
    }

    private void read() throws ImageError {
        int size = bytes.limit();
        if (size < HEAD + TAIL || !magicAt(0) || !magicAt(size - MAGIC.length)) {
            throw corrupt(0, "not an Arrow file of " + size + " bytes");
        }
        int footerLength = bytes.getInt(size - TAIL);
        int footerStart = size - TAIL - footerLength;
        if (footerLength <= 0 || footerStart < HEAD || footerStart > size - TAIL) {
            throw corrupt(size - TAIL, "footer length " + footerLength);
        }
        Footer footer = Footer.getRootAsFooter(slice(footerStart, footerLength));
        if (footer.version() != MetadataVersion.V5 || footer.dictionariesLength() != 0) {
            throw corrupt(footerStart, "Arrow version " + footer.version() + " or a dictionary, which no table has");
        }
        new SchemaCheck(schema, file, footerStart).check(footer.schema());
        long end = HEAD;
        for (int i = 0; i < footer.recordBatchesLength(); i++) {
            end = batch(footer.recordBatches(i), end, footerStart);
        }
    }

    /** Reads one batch, which may not begin before {@code from}; returns where it ends. */
    private long batch(Block block, long from, int limit) throws ImageError {
        long offset = block.offset();
        int metadata = block.metaDataLength();
        long body = block.bodyLength();
        if (offset < from || offset % 8 != 0 || metadata < 8 || body < 0 || offset > limit - metadata
                || body > limit - metadata - offset) {
            throw corrupt(limit, "batch at " + offset + " with " + metadata + " + " + body + " bytes");
        }
        int start = (int) offset;
        if (bytes.getInt(start) != CONTINUATION || bytes.getInt(start + 4) <= 0
                || bytes.getInt(start + 4) > metadata - 8) {
            throw corrupt(start, "message prefix");
        }
        Message message = Message.getRootAsMessage(slice(start + 8, metadata - 8));
        if (message.version() != MetadataVersion.V5 || message.headerType() != MessageHeader.RecordBatch
                || message.bodyLength() != body) {
            throw corrupt(start, "message header");
        }
        RecordBatch batch = (RecordBatch) message.header(new RecordBatch());
        read(batch, slice(start + metadata, (int) body), start);
        return offset + metadata + body;
    }

    private void read(RecordBatch batch, ByteBuffer body, int where) throws ImageError {
        if (batch == null || batch.compression() != null || batch.length() < 0 || batch.length() > 8L * body.limit()) {
            throw corrupt(where, "batch of " + (batch == null ? "nothing" : batch.length() + " rows in " + body.limit() + " bytes"));
        }
        int count = (int) batch.length();
        ColumnBuffers buffers = new ColumnBuffers(batch, body, file, where);
        List<ArrowColumn> columns = new ArrayList<>();
        for (RecordSchema.Column column : schema.columns) {
            columns.add(ArrowColumn.read(column, count, buffers));
        }
        buffers.checkAllUsed();
        for (int row = 0; row < count; row++) {
            rows.add(type.cast(record(columns, row, where)));
        }
    }

    private Object record(List<ArrowColumn> columns, int row, int where) throws ImageError {
        RecordShape shape = schema.shapes.values().iterator().next();
        if (schema.union) {
            String kind = (String) columns.get(0).value(row);
            shape = schema.shapes.get(kind);
            if (shape == null) {
                throw corrupt(where, "row " + row + ": unknown kind '" + kind + "'");
            }
        }
        Object[] values = new Object[shape.columns.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = columns.get(shape.columns[i]).value(row);
        }
        return shape.make(values);
    }

    private boolean magicAt(int position) {
        return bytes.slice(position, MAGIC.length).equals(ByteBuffer.wrap(MAGIC));
    }

    private ByteBuffer slice(int offset, int length) {
        return bytes.slice(offset, length).order(ByteOrder.LITTLE_ENDIAN);
    }

    private ImageError.Corrupt corrupt(long offset, String what) {
        return new ImageError.Corrupt(file, offset, what);
    }
}
