package org.udckpt.image.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.udckpt.image.ImageError;

/** Whole files that fit in memory: tables, the manifest, leases. */
public final class SmallFiles {
    private SmallFiles() {}

    /** Writes a new file and makes its content durable; its name is so only once the directory is synced. */
    public static void write(StorageIo io, Path file, byte[] content) throws IOException {
        try (StorageIo.Output output = io.create(file, false)) {
            output.append(new ByteBuffer[]{ByteBuffer.wrap(content)}, 1);
            output.sync();
            if (output.length() != content.length) {
                throw new ImageError.Corrupt(file, -1,
                        output.length() + " bytes long after " + content.length + " were written");
            }
        }
    }

    /**
     * Reads a file whose length must be {@code length}, or at most {@code most} where that is negative.
     *
     * @throws ImageError.Missing when it is not there
     */
    public static byte[] read(StorageIo io, Path file, long length, long most) throws IOException {
        try (StorageIo.Input input = io.open(file)) {
            long actual = input.length();
            if (length >= 0 && actual != length) {
                throw new ImageError.Corrupt(file, Math.min(actual, length),
                        actual + " bytes long instead of " + length);
            }
            if (actual > most) {
                throw new ImageError.Corrupt(file, most, actual + " bytes long, more than the " + most
                        + " that udckpt writes");
            }
            byte[] content = new byte[(int) actual];
            input.read(ByteBuffer.wrap(content), 0);
            return content;
        } catch (NoSuchFileException e) {
            throw new ImageError.Missing(file, "missing");
        }
    }
}
