package org.udckpt.image.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.udckpt.image.ImageError;
import org.udckpt.image.Range;
import org.udckpt.linux.Files;

/**
 * A file of {@link LocalStorage} that is being read. Large pieces pass the page cache by, where the file system lets
 * them: they are read once, would be copied once more, and would push out of memory what the job needs there.
 */
final class LocalInput implements StorageIo.Input {
    private static final int LARGE = 1 << 16;

    private final Path file;
    private final FileChannel channel;
    /** Null where the file system has no such thing, or nothing large is in the file. */
    private final FileChannel direct;

    /** @param descriptor of the file, which the caller closes */
    LocalInput(Path file, int descriptor) throws IOException {
        this.file = file;
        this.channel = Files.channel(descriptor, StandardOpenOption.READ);
        try {
            this.direct = channel.size() < LARGE ? null : DirectFile.open(descriptor, StandardOpenOption.READ);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
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
                n = (direct != null && fits(into, at) ? direct : channel).read(into, at);
            } catch (IOException e) {
                throw Errno.named(file, at, e);
            }
            if (n < 0) {
                throw new ImageError.Corrupt(file, at, "ends here; " + into.remaining() + " more bytes expected");
            }
            at += n;
        }
    }

    /** What O_DIRECT takes everywhere (open(2)). */
    private static boolean fits(ByteBuffer into, long at) {
        return into.remaining() >= LARGE && into.isDirect() && into.remaining() % Range.PAGE == 0
                && at % Range.PAGE == 0
                && into.alignmentOffset(into.position(), Range.PAGE) == 0;
    }

    @Override
    public void close() throws IOException {
        try (FileChannel _ = direct) {
            channel.close();
        }
    }
}
