package org.udckpt.image.write;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;
import org.udckpt.image.ImageError;
import org.udckpt.image.Manifest;
import org.udckpt.image.storage.RateLimit;
import org.udckpt.image.storage.StorageIo;

/** One stripe file that is being written: what is in it, and how long that took. For one thread. */
final class StripeFile implements Closeable {
    /** So much is asked for at a time: a call for each 2 MiB alone costs more than it saves. */
    private static final long ROOM = 16 << 20;
    private final int number;
    private final Path file;
    private final StorageIo.Output output;
    private final RateLimit rate;
    private final StripeLog log;
    private final Histogram latency = new Histogram(3);
    private boolean closed;
    private long length;
    private long room;

    StripeFile(int number, Path file, StorageIo.Output output, StripeLog log, RateLimit rate) {
        this.number = number;
        this.file = file;
        this.output = output;
        this.log = log;
        this.rate = rate;
    }

    /** What puts bytes at the file's end: all of them, or it throws. */
    @FunctionalInterface
    interface Append {
        void to(StorageIo.Output output) throws IOException;
    }

    /** What puts all bytes at the file's end, or none, and says which. */
    @FunctionalInterface
    interface MaybeAppend {
        boolean to(StorageIo.Output output) throws IOException;
    }

    /** Waits until {@code bytes} may go, and has them appended, unless that was given up meanwhile. */
    void append(long bytes, BooleanSupplier givenUp, Append how) throws IOException {
        if (bytes > 0 && rate.await(bytes, givenUp)) {
            long begin = System.nanoTime();
            how.to(output);
            latency.recordValue(System.nanoTime() - begin);
        }
        length += bytes;
    }

    /** Whether bytes can go at once, so that it costs nothing to find out on the way that they need not. */
    boolean unlimited() {
        return rate == RateLimit.NONE;
    }

    /** As {@link #append}, of bytes that then perhaps are not appended. Only where it is {@link #unlimited}. */
    void tryAppend(long bytes, MaybeAppend how) throws IOException {
        long begin = System.nanoTime();
        if (how.to(output)) {
            latency.recordValue(System.nanoTime() - begin);
            length += bytes;
        }
    }

    /** Its number among the node's. */
    int number() {
        return number;
    }

    /** Where the next bytes go. */
    long length() {
        return length;
    }

    Path path() {
        return file;
    }

    StorageIo.Output output() {
        return output;
    }

    StripeLog log() {
        return log;
    }

    /** Up to where the file system was asked for huge pages; the file may be as long as that. */
    long room() {
        return room;
    }

    /**
     * Up to where it is to have huge pages when {@code bytes} more are appended; {@link #room} as before, where nothing
     * is to be asked for.
     */
    long roomFor(long bytes) {
        if (output.smallPages() && length + bytes > room) {
            room += (length + bytes - room + ROOM - 1) / ROOM * ROOM;
        }
        return room;
    }

    /** What {@link #roomFor} said last was not carried out: {@link #room} is what it was before. */
    void notAskedFor(long before) {
        room = before;
    }

    /** Makes the file durable and checks that the file system agrees about its length. */
    Manifest.FileEntry finish(String blocksTable) throws IOException {
        if (room > length) {
            output.cut(length);
        }
        output.sync();
        if (output.length() != length) {
            throw new ImageError.Corrupt(file, -1, output.length() + " bytes long after " + length + " were written");
        }
        close();
        return Manifest.FileEntry.stripe(file.getFileName().toString(), length, blocksTable);
    }

    /** Of all writes, in nanoseconds. */
    Histogram latencies() {
        return latency;
    }

    WriteLatency latency() {
        ByteBuffer encoded = ByteBuffer.allocate(latency.getNeededByteBufferCapacity());
        int size = latency.encodeIntoCompressedByteBuffer(encoded);
        return new WriteLatency(number, output.direct(), latency.getTotalCount(), latency.getValueAtPercentile(50),
                latency.getValueAtPercentile(99), latency.getMaxValue(),
                java.util.Arrays.copyOf(encoded.array(), size));
    }

    @Override
    public void close() throws IOException {
        if (!closed) {
            closed = true;
            output.close();
        }
    }
}
