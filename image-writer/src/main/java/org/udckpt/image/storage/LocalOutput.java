package org.udckpt.image.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.udckpt.linux.Files;

/** A file of {@link LocalStorage} that is being written. */
final class LocalOutput implements StorageIo.Output {
    private final Path file;
    private final int descriptor;
    private final FileChannel channel;
    private final boolean direct;
    private final boolean smallPages;

    /** @param descriptor of the file, for callers that open it again; closed with the channel */
    LocalOutput(Path file, int descriptor, FileChannel channel, boolean direct, boolean smallPages) {
        this.file = file;
        this.descriptor = descriptor;
        this.channel = channel;
        this.direct = direct;
        this.smallPages = smallPages;
    }

    @Override
    public boolean direct() {
        return direct;
    }

    @Override
    public int descriptor() {
        return descriptor;
    }

    @Override
    public boolean smallPages() {
        return smallPages;
    }

    @Override
    public void truncate(long length) throws IOException {
        try {
            channel.truncate(length);
        } catch (IOException e) {
            throw Errno.named(file, length, e);
        }
    }

    @Override
    public void append(ByteBuffer[] buffers, int count) throws IOException {
        long at = channel.position();
        try {
            int next = 0;
            while (next < count) {
                if (buffers[next].hasRemaining()) {
                    channel.write(buffers, next, count - next);
                } else {
                    next++;
                }
            }
        } catch (IOException e) {
            throw Errno.named(file, at, e);
        }
    }

    @Override
    public void sync() throws IOException {
        try {
            channel.force(true);
        } catch (IOException e) {
            throw Errno.named(file, -1, e);
        }
    }

    @Override
    public long length() throws IOException {
        return channel.size();
    }

    @Override
    public void close() throws IOException {
        if (!channel.isOpen()) {
            return;
        }
        try {
            channel.close();
        } catch (IOException e) {
            throw Errno.named(file, -1, e);
        } finally {
            Files.close(descriptor);
        }
    }
}
