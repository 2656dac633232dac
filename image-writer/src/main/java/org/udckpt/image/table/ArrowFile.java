package org.udckpt.image.table;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.apache.arrow.flatbuf.Block;
import org.apache.arrow.flatbuf.Footer;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;
import org.udckpt.image.ImageError;

/**
 * Reads an Arrow IPC file. Arrow's own reader trusts the lengths and offsets that it finds; here each is checked
 * against the bytes that are there, and nothing native is touched, so a damaged file ends in an
 * {@link ImageError.Corrupt} and in nothing else.
 *
 * <p>Layout: Arrow columnar format, section "IPC File Format".
 */
public final class ArrowFile {
    private static final byte[] MAGIC = {'A', 'R', 'R', 'O', 'W', '1'};
    private static final int HEAD = 8;
    private static final int TAIL = 4 + MAGIC.length;
    private static final int CONTINUATION = -1;

    /**
     * What a file of a known schema holds. What these throw of {@link IllegalArgumentException},
     * {@link IndexOutOfBoundsException} and {@link NullPointerException} makes the file a corrupt one.
     */
    public interface Contents {
        /** Once, first; may be null. Its accessors trust what is there. @param where in the file, for errors */
        void schema(Schema schema, long where) throws ImageError;

        /**
         * @param rows at most eight for each byte of the batch.
         * @param buffers to be taken in the order of the columns, all of them
         */
        void batch(int rows, ColumnBuffers buffers) throws ImageError;
    }

    private final ByteBuffer bytes;
    private final Path file;

    private ArrowFile(ByteBuffer bytes, Path file) {
        this.bytes = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        this.file = file;
    }

    /**
     * @param bytes the whole file, from position to limit; not changed
     * @param file  named in errors
     * @throws ImageError.Corrupt when it is not such a file
     */
    public static void read(ByteBuffer bytes, Path file, Contents contents) throws ImageError {
        try {
            new ArrowFile(bytes, file).read(contents);
        } catch (IndexOutOfBoundsException | NullPointerException | AssertionError e) {
            // What the generated flatbuffers accessors throw; their words name no place that anybody could look at.
            throw new ImageError.Corrupt(file, -1, "not a valid table: an offset is out of range", e);
        } catch (IllegalArgumentException e) {
            throw new ImageError.Corrupt(file, -1, "not a valid table: " + e.getMessage(), e);
        }
    }

    private void read(Contents contents) throws ImageError {
        int size = bytes.limit();
        if (size < HEAD + TAIL || !magicAt(0) || !magicAt(size - MAGIC.length)) {
            throw corrupt(0, "not an Arrow file (" + size + " bytes)");
        }
        int footerLength = bytes.getInt(size - TAIL);
        int footerStart = size - TAIL - footerLength;
        if (footerLength <= 0 || footerStart < HEAD || footerStart > size - TAIL) {
            throw corrupt(size - TAIL, "footer length " + footerLength + " is out of range");
        }
        Footer footer = Footer.getRootAsFooter(slice(footerStart, footerLength));
        if (footer.version() != MetadataVersion.V5 || footer.dictionariesLength() != 0) {
            throw corrupt(footerStart,
                    "Arrow metadata version " + footer.version() + " or dictionaries, which udckpt does not write");
        }
        contents.schema(footer.schema(), footerStart);
        long end = HEAD;
        for (int i = 0; i < footer.recordBatchesLength(); i++) {
            end = batch(footer.recordBatches(i), end, footerStart, contents);
        }
    }

    /** Reads one batch, which may not begin before {@code from}; returns where it ends. */
    private long batch(Block block, long from, int limit, Contents contents) throws ImageError {
        long offset = block.offset();
        int metadata = block.metaDataLength();
        long body = block.bodyLength();
        if (offset < from || offset % 8 != 0 || metadata < 8 || body < 0 || offset > limit - metadata
                || body > limit - metadata - offset) {
            throw corrupt(limit,
                    "record batch at " + offset + " with " + metadata + " + " + body + " bytes is out of range");
        }
        int start = (int) offset;
        if (bytes.getInt(start) != CONTINUATION || bytes.getInt(start + 4) <= 0
                || bytes.getInt(start + 4) > metadata - 8) {
            throw corrupt(start, "invalid message prefix");
        }
        Message message = Message.getRootAsMessage(slice(start + 8, metadata - 8));
        if (message.version() != MetadataVersion.V5 || message.headerType() != MessageHeader.RecordBatch
                || message.bodyLength() != body) {
            throw corrupt(start, "invalid message header");
        }
        batch((RecordBatch) message.header(new RecordBatch()), slice(start + metadata, (int) body), start, contents);
        return offset + metadata + body;
    }

    private void batch(RecordBatch batch, ByteBuffer body, int where, Contents contents) throws ImageError {
        if (batch == null || batch.compression() != null || batch.length() < 0 || batch.length() > 8L * body.limit()
                || batch.length() > Integer.MAX_VALUE) {
            throw corrupt(where, batch == null ? "record batch is missing"
                    : "invalid record batch of " + batch.length() + " rows in " + body.limit() + " bytes");
        }
        contents.batch((int) batch.length(), new ColumnBuffers(batch, body, file, where));
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
