package org.udckpt.image.table;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.List;
import org.udckpt.image.ImageError;

/**
 * Maps a list of records, or of a sealed interface whose permitted types are records, to an Arrow IPC file and back.
 *
 * <p>A component becomes a column of its own name: {@code int}, {@code long}, {@code boolean}, {@code String},
 * {@code byte[]} (Binary), {@code int[]} and {@code long[]} (List), enums (Utf8, the constant's name). Objects may be
 * null. A sealed interface adds a first column {@code kind}, the record's simple name, and has the union of all
 * components, null where a kind has none. Any Arrow tool opens the files.
 *
 * <p>Reading is strict, because an image may have been torn or made by someone else: the schema must be exactly the
 * one of the Java type, and every length is checked against the file before anything is allocated by it.
 *
 * <p>Thread-safe, immutable.
 *
 * @param <T> the record class or sealed interface
 */
public final class RecordTable<T> {
    /** Largest table file in bytes that is written or read. */
    public static final long MAX_BYTES = 1L << 30;

    private final Class<T> type;
    private final RecordSchema schema;

    private RecordTable(Class<T> type, RecordSchema schema) {
        this.type = type;
        this.schema = schema;
    }

    /**
     * @throws IllegalArgumentException naming the component that cannot be stored
     */
    public static <T> RecordTable<T> of(Class<T> type) {
        return new RecordTable<>(type, RecordSchema.of(type));
    }

    /**
     * A table whose rows are records of one interface that is not sealed: as of a sealed one that permits
     * {@code records}, in this order.
     *
     * @throws IllegalArgumentException naming the component that cannot be stored
     */
    public static <T> RecordTable<T> of(Class<T> type, List<Class<? extends T>> records) {
        return new RecordTable<>(type, RecordSchema.of(type, records));
    }

    /**
     * Writes {@code rows} as one Arrow IPC file (magic at both ends).
     *
     * @throws IllegalArgumentException when the table would exceed {@link #MAX_BYTES}
     */
    public void write(List<? extends T> rows, WritableByteChannel out) throws IOException {
        new ArrowEncoder(schema).write(rows, out);
    }

    /** As {@link #write}, into memory. */
    public byte[] encode(List<? extends T> rows) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (WritableByteChannel out = Channels.newChannel(bytes)) {
            write(rows, out);
        } catch (IOException e) {
            throw new UncheckedIOException("a write to memory failed", e);
        }
        return bytes.toByteArray();
    }

    /**
     * Reads an Arrow IPC file that {@link #write} has written.
     *
     * @param bytes the whole file, from position to limit; not changed
     * @param file  named in errors
     * @return the rows, in order, unmodifiable
     * @throws ImageError.Corrupt when the bytes are anything else than such a file of exactly this schema
     */
    public List<T> decode(ByteBuffer bytes, Path file) throws ImageError {
        if (bytes.remaining() > MAX_BYTES) {
            throw new ImageError.Corrupt(file, -1,
                    "a table of " + bytes.remaining() + " bytes; the limit is " + MAX_BYTES);
        }
        ArrowDecoder<T> decoder = new ArrowDecoder<>(type, schema, file);
        ArrowFile.read(bytes, file, decoder);
        return decoder.rows();
    }

    /** As {@link #decode(ByteBuffer, Path)}. */
    public List<T> decode(byte[] bytes, Path file) throws ImageError {
        return decode(ByteBuffer.wrap(bytes), file);
    }
}
