package org.udckpt.image.catalogue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.udckpt.image.ImageError;
import org.udckpt.image.Manifest;
import org.udckpt.image.Range;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.storage.DeviceMemory;
import org.udckpt.image.storage.RateLimit;
import org.udckpt.image.storage.StorageIo;

/**
 * Copies files of an image as the manifest names them, durably but for their names: opaque bytes, past the page cache
 * where the file system takes it.
 *
 * @param rate of the bytes that are written
 * @param givenUp asked often; once it says so the copy ends
 */
record CheckpointFileCopies(StorageIo io, RateLimit rate, BooleanSupplier givenUp) {
    private static final int BLOCK = 4 << 20;

    /**
     * Copies each to the directory, where none of them is yet.
     *
     * @param done is told of the bytes of each
     * @throws CancellationException when it was given up
     * @throws ImageError            when one is not what the manifest says
     */
    void copy(List<Manifest.FileEntry> files, Path from, Path to, LongConsumer done) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            ByteBuffer block = DeviceMemory.map(arena, BLOCK).asByteBuffer();
            for (Manifest.FileEntry entry : files) {
                // before a file is made: what there is of the copy may be gone by now, and its place another one's
                goOn();
                copy(entry, from.resolve(entry.name()), to.resolve(entry.name()), block);
                done.accept(entry.length());
            }
        }
    }

    private void copy(Manifest.FileEntry entry, Path from, Path to, ByteBuffer block) throws IOException {
        boolean direct = entry.length() > 0 && entry.length() % Range.PAGE == 0; // O_DIRECT wants whole blocks
        MessageDigest digest = entry.sha256() == null ? null : ImageKey.newSha256();
        try (StorageIo.Input input = io.open(from); StorageIo.Output output = io.create(to, direct)) {
            for (long at = 0; at < entry.length(); at += block.limit()) {
                block.clear().limit((int) Math.min(BLOCK, entry.length() - at));
                input.read(block, at);
                block.flip();
                if (digest != null) {
                    digest.update(block.duplicate());
                }
                goOn(rate.await(block.remaining(), givenUp));
                output.append(new ByteBuffer[]{block}, 1);
            }
            output.sync();
            if (output.length() != entry.length()) {
                throw new ImageError.Corrupt(to, -1,
                        output.length() + " bytes long after " + entry.length() + " were written");
            }
        }
        if (digest != null && !HexFormat.of().formatHex(digest.digest()).equals(entry.sha256())) {
            throw new ImageError.Corrupt(from, -1, "its SHA-256 differs from the manifest: not copied");
        }
    }

    /** To be called often while what was copied is read back. */
    void goOn() {
        goOn(!givenUp.getAsBoolean());
    }

    private static void goOn(boolean wanted) {
        if (!wanted) {
            throw new CancellationException("the copy was abandoned");
        }
    }
}
