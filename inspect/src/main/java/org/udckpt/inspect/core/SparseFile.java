package org.udckpt.inspect.core;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import org.udckpt.linux.Files;

/** A file in which pages of zeros are holes. */
final class SparseFile implements Closeable {
    private static final int PAGE = 4096;
    private static final MemorySegment ZEROS = Arena.global().allocate(PAGE, 8);

    private final FileChannel file;
    private long written;

    /** @param descriptor of an empty file, which the caller closes */
    SparseFile(int descriptor) throws IOException {
        file = Files.channel(descriptor, StandardOpenOption.WRITE);
    }

    /** Bytes that were written, without the holes. */
    long written() {
        return written;
    }

    /** @param length of the file in the end: what is never written reads as zero */
    void setLength(long length) throws IOException {
        if (length > 0) {
            file.write(ByteBuffer.allocate(1), length - 1); // a zero, as all before it
        }
    }

    void write(long position, byte[] bytes) throws IOException {
        run(position, ByteBuffer.wrap(bytes));
    }

    /** @param bytes of a native segment; its pages of zeros are left out */
    void write(long position, MemorySegment bytes) throws IOException {
        long begin = 0;
        for (long at = 0; at < bytes.byteSize(); at += PAGE) {
            MemorySegment page = bytes.asSlice(at, Math.min(PAGE, bytes.byteSize() - at));
            if (page.mismatch(ZEROS.asSlice(0, page.byteSize())) == -1) {
                run(position + begin, bytes.asSlice(begin, at - begin).asByteBuffer());
                begin = at + PAGE;
            }
        }
        if (begin < bytes.byteSize()) {
            run(position + begin, bytes.asSlice(begin).asByteBuffer());
        }
    }

    private void run(long position, ByteBuffer bytes) throws IOException {
        for (long at = position; bytes.hasRemaining();) {
            int count = file.write(bytes, at);
            at += count;
            written += count;
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
