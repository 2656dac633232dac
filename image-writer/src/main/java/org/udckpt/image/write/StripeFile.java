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

/** One stripe file that is being written: its length so far, and the latencies of its writes. For one thread. */
final class StripeFile implements Closeable {
    /** Huge pages are asked for in steps of this size: a call for each 2 MiB costs more than it saves. */
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

    /** Puts bytes at the file's end: all of them, or it throws. */
    @FunctionalInterface
    interface Append {
        void to(StorageIo.Output output) throws IOException;
    }

    /** Puts all bytes at the file's end (true) or none (false). */
    @FunctionalInterface
    interface MaybeAppend {
        boolean to(StorageIo.Output output) throws IOException;
    }

    /**
     * Waits until the rate limit allows {@code bytes}, and has them appended. If {@code givenUp} says so meanwhile,
     * nothing is appended and {@link #length} is wrong: the file is discarded then.
     */
    void append(long bytes, BooleanSupplier givenUp, Append how) throws IOException {
        if (bytes > 0 && rate.await(bytes, givenUp)) {
            long begin = System.nanoTime();
            how.to(output);
            latency.recordValue(System.nanoTime() - begin);
        }
        length += bytes;
    }

    /** Whether there is no rate limit, so that bytes claimed and then not written cost nothing. */
    boolean unlimited() {
        return rate == RateLimit.NONE;
    }

    /** As {@link #append}, for bytes that {@code how} may decide not to append. Only if {@link #unlimited}. */
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

    /** The file system was asked for huge pages up to this offset; the file may be as long as that. */
    long room() {
        return room;
    }

    /**
     * The offset up to which the file is to have huge pages once {@code bytes} more are appended; {@link #room}
     * unchanged if none are to be asked for.
     */
    long roomFor(long bytes) {
        if (output.smallPages() && length + bytes > room) {
            room += (length + bytes - room + ROOM - 1) / ROOM * ROOM;
        }
        return room;
    }

    /** The request of the last {@link #roomFor} was not carried out: {@link #room} is {@code before} again. */
    void notAskedFor(long before) {
        room = before;
    }

    /** Makes the file durable and checks that the file system agrees about its length. */
    Manifest.FileEntry finish(String blocksTable) throws IOException {
        if (room > length) {
            output.truncate(length);
        }
        output.sync();
        if (output.length() != length) {
            throw new ImageError.Corrupt(file, -1, output.length() + " bytes long after " + length + " were written");
        }
        close();
        return Manifest.FileEntry.stripe(file.getFileName().toString(), length, blocksTable);
    }

    /** Latencies of all writes, in nanoseconds. */
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
