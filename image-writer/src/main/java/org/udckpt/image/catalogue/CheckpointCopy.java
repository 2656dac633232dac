package org.udckpt.image.catalogue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.Range;
import org.udckpt.image.directory.CheckpointIds;
import org.udckpt.image.directory.CheckpointRemoval;
import org.udckpt.image.directory.Publication;
import org.udckpt.image.directory.WriterLease;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.manifest.ManifestFile;
import org.udckpt.image.manifest.ManifestParser;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.storage.RateLimit;
import org.udckpt.image.storage.SmallFiles;
import org.udckpt.image.storage.StorageIo;

/**
 * Copies a complete checkpoint to another directory of checkpoints, where it has the same number. It exists there by the same
 * protocol as one that is written ({@link org.udckpt.image.write.CheckpointWriter}), with one step more: the copy is read whole and held against its
 * digests before its manifest gets its name. Files are opaque here; the manifest names them all. Checkpoints that it is based on must
 * be there before it.
 */
public final class CheckpointCopy {
    private static final int BLOCK = 4 << 20;

    private final Path source;
    private final Path parent;
    private final ImageKey key;
    private final StorageIo io;
    private final RateLimit rate;
    private final BooleanSupplier givenUp;

    /** How far a copy is. */
    @FunctionalInterface
    public interface Progress {
        /** @param total bytes that are written and then read: twice the checkpoint's */
        void copied(long done, long total);
    }

    /**
     * @param checkpoint {@code DIR/ckpt-0001}, complete
     * @param parent     the directory of checkpoints to copy it to; made when it is not there (but not its parents)
     * @param rate       of the bytes that are written
     * @param givenUp    asked often; once it says so the copy ends and is removed
     */
    public CheckpointCopy(Path checkpoint, Path parent, ImageKey key, RateLimit rate, BooleanSupplier givenUp) {
        this(checkpoint, parent, key, rate, givenUp, LocalStorage.INSTANCE);
    }

    /** As the other one, in a file system of the caller's. */
    public CheckpointCopy(Path checkpoint, Path parent, ImageKey key, RateLimit rate, BooleanSupplier givenUp, StorageIo io) {
        this.source = checkpoint.toAbsolutePath().normalize();
        this.parent = parent.toAbsolutePath().normalize();
        this.key = key;
        this.rate = rate;
        this.givenUp = givenUp;
        this.io = io;
    }

    /**
     * Returns when the copy is complete and durable; at once when it was there before.
     *
     * @throws CancellationException when it was given up
     * @throws ImageError            when the source or the copy is not what the manifest says, or another checkpoint has the number
     */
    public void run(Progress progress) throws IOException {
        byte[] sealed = SmallFiles.read(io, source.resolve(ImageNames.MANIFEST), -1, ManifestParser.MAX_BYTES);
        Manifest manifest = ManifestFile.load(source, key, io).manifest();
        CheckpointIds ids = new CheckpointIds(parent, io);
        Path copy = parent.resolve(ImageNames.directory(manifest.id()));
        if (isThere(ids, copy, manifest)) {
            return;
        }
        ids.claim(manifest.id(), WriterLease.own());
        try {
            copyFiles(manifest, copy, progress);
            io.syncDirectory(copy);
            io.syncDirectory(parent);
            commit(manifest, sealed, copy, progress);
        } catch (IOException | RuntimeException | Error e) {
            remove(copy, e);
            throw e;
        }
    }

    private boolean isThere(CheckpointIds ids, Path copy, Manifest manifest) throws IOException {
        ids.makeParent();
        if (!io.list(parent).contains(copy)) {
            return false;
        }
        try {
            if (ManifestFile.load(copy, key, io).manifest().equals(manifest)) {
                return true;
            }
        } catch (ImageError.Missing e) {
            throw new ImageError.Corrupt(copy, -1, "is there already, but not complete: " + e.getMessage(), e);
        }
        throw new ImageError.Corrupt(copy, -1, "another checkpoint of this number is there already; move it away, or name another directory");
    }

    private void copyFiles(Manifest manifest, Path copy, Progress progress) throws IOException {
        long done = 0;
        try (Arena arena = Arena.ofConfined()) {
            ByteBuffer block = arena.allocate(BLOCK, Range.PAGE).asByteBuffer();
            for (Manifest.FileEntry entry : manifest.files()) {
                copyFile(entry, copy, block);
                done += entry.length();
                progress.copied(done, 2 * manifest.storedBytes());
            }
        }
    }

    private void copyFile(Manifest.FileEntry entry, Path copy, ByteBuffer block) throws IOException {
        Path to = copy.resolve(entry.name());
        boolean direct = entry.length() > 0 && entry.length() % Range.PAGE == 0; // O_DIRECT wants whole blocks
        MessageDigest digest = entry.sha256() == null ? null : ImageKey.newSha256();
        try (StorageIo.Input input = io.open(source.resolve(entry.name())); StorageIo.Output output = io.create(to, direct)) {
            for (long at = 0; at < entry.length(); at += block.limit()) {
                block.clear().limit((int) Math.min(BLOCK, entry.length() - at));
                input.read(block, at);
                block.flip();
                if (digest != null) {
                    digest.update(block.duplicate());
                }
                goOn(rate.await(block.remaining(), givenUp));
                output.append(new ByteBuffer[] {block}, 1);
            }
            output.sync();
            if (output.length() != entry.length()) {
                throw new ImageError.Corrupt(to, -1, output.length() + " bytes long after " + entry.length() + " were written");
            }
        }
        if (digest != null && !HexFormat.of().formatHex(digest.digest()).equals(entry.sha256())) {
            throw new ImageError.Corrupt(source.resolve(entry.name()), -1, "its SHA-256 is not the manifest's: it was not copied");
        }
    }

    private static void goOn(boolean wanted) {
        if (!wanted) {
            throw new CancellationException("the copy was given up");
        }
    }

    private void commit(Manifest manifest, byte[] sealed, Path copy, Progress progress) throws IOException {
        SmallFiles.write(io, copy.resolve(ImageNames.MANIFEST_TEMPORARY), sealed);
        io.syncDirectory(copy);
        try (CheckpointReader reader = CheckpointReader.open(copy, key, new UncommittedView(io, copy))) {
            reader.verify((done, total) -> {
                goOn(!givenUp.getAsBoolean());
                // What it needs of older checkpoints is read too.
                progress.copied(manifest.storedBytes() + (long) ((double) manifest.storedBytes() * done / total), 2 * manifest.storedBytes());
            });
        }
        Publication.publish(copy, manifest, key, io);
    }

    private void remove(Path copy, Throwable cause) {
        try {
            CheckpointRemoval.remove(copy, io);
        } catch (IOException e) {
            cause.addSuppressed(e); // what is left is incomplete, and cleaned once this process has ended
        }
    }
}
