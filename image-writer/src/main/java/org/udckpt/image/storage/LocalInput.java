package org.udckpt.image.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.udckpt.image.ImageError;

/** A file of {@link LocalStorage} that is being read. */
final class LocalInput implements StorageIo.Input {
    private final Path file;
    private final FileChannel channel;

    LocalInput(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    @Override
    public long length() throws IOException {
        return channel.size();
    }

    @Override
    public void read(ByteBuffer into, long position) throws IOException {
        long at = position;
        while (into.hasRemaining()) {
            int n;
            try {
                n = channel.read(into, at);
            } catch (IOException e) {
                throw Errno.named(file, at, e);
            }
            if (n < 0) {
                throw new ImageError.Corrupt(file, at, "ends here; " + into.remaining() + " more bytes expected");
            }
            at += n;
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
