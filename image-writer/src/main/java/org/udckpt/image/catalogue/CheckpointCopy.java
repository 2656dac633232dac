package org.udckpt.image.catalogue;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.directory.CheckpointIds;
import org.udckpt.image.directory.CheckpointRemoval;
import org.udckpt.image.directory.Publication;
import org.udckpt.image.directory.WriterLease;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.manifest.ManifestFile;
import org.udckpt.image.manifest.ManifestParser;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.storage.RateLimit;
import org.udckpt.image.storage.SmallFiles;
import org.udckpt.image.storage.StorageIo;

/**
 * Copies a complete checkpoint to another directory of checkpoints, where it has the same number. It exists there by
 * the same protocol as one that is written ({@link org.udckpt.image.write.CheckpointWriter}), with one step more: the
 * copy is read whole and held against its digests before its manifest gets its name. Files are opaque here; the
 * manifest names them all. What only the nodes' hosts have, they copy themselves ({@link Hosts}). Checkpoints that it
 * is based on must be there before it.
 */
public final class CheckpointCopy {
    private final Path source;
    private final Path parent;
    private final ImageKey key;
    private final StorageIo storage;
    private final RateLimit rate;
    private final BooleanSupplier givenUp;

    /** How far a copy is. */
    @FunctionalInterface
    public interface Progress {
        /** @param total bytes that are written and then read: twice the checkpoint's */
        void copied(long done, long total);
    }

    /** Copies the parts that are not here: those of nodes whose images only their hosts can read. */
    @FunctionalInterface
    public interface Hosts {
        /** No hosts: all of it is here. */
        Hosts NONE = (order, _) -> {
            throw new ImageError.Missing(order.copy(), "cannot be created here: the parts of its nodes are on the "
                    + "job's hosts, in their own " + order.parts().directory());
        };

        /**
         * Returns when each node's part has been copied, durably, and read back ({@link PartCopy}).
         *
         * @param done is told of bytes copied and read, of all that are to be
         * @throws CancellationException when it was given up
         * @throws IOException           naming the host that could not; all hosts have ended with it by then
         */
        void copy(Order order, Progress done) throws IOException;
    }

    /**
     * What hosts are asked.
     *
     * @param parts    where each has its own
     * @param manifest of the checkpoint
     * @param copy     where all have to go
     * @param givenUp  to be asked often
     */
    public record Order(HostParts parts, Manifest manifest, Path copy, BooleanSupplier givenUp) {}

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
    public CheckpointCopy(Path checkpoint, Path parent, ImageKey key, RateLimit rate, BooleanSupplier givenUp,
            StorageIo storage) {
        this.source = checkpoint.toAbsolutePath().normalize();
        this.parent = parent.toAbsolutePath().normalize();
        this.key = key;
        this.rate = rate;
        this.givenUp = givenUp;
        this.storage = storage;
    }

    /**
     * Returns when the copy is complete and durable; at once when it was there before.
     *
     * @throws CancellationException when it was given up
     * @throws ImageError when the source or the copy is not what the manifest says, or another checkpoint has the
     *     number
     */
    public void run(Progress progress) throws IOException {
        run(progress, Hosts.NONE);
    }

    /**
     * As {@link #run(Progress)}.
     *
     * @param hosts are asked where the parts of its nodes are not here, {@link HostParts}
     */
    public void run(Progress progress, Hosts hosts) throws IOException {
        try (StorageIo.Session io = storage.session(); Closeable _ = hold(io)) {
            new Run(io).run(progress, hosts);
        }
    }

    /** Holds the checkpoint, so that it is not removed while it is copied. */
    private Closeable hold(StorageIo io) throws IOException {
        Path manifest = source.resolve(ImageNames.MANIFEST);
        try {
            return io.hold(manifest);
        } catch (NoSuchFileException e) {
            throw new ImageError.Missing(manifest, "missing: not a complete checkpoint");
        }
    }

    /** One copy, with the directories that it needs held open. */
    private final class Run {
        private final StorageIo.Session io;
        private final CheckpointFileCopies files;

        Run(StorageIo.Session io) {
            this.io = io;
            this.files = new CheckpointFileCopies(io, rate, givenUp);
        }

        void run(Progress progress, Hosts hosts) throws IOException {
            byte[] sealed = SmallFiles.read(io, source.resolve(ImageNames.MANIFEST), -1, ManifestParser.MAX_BYTES);
            Manifest manifest = ManifestFile.load(source, key, io).manifest();
            CheckpointIds ids = new CheckpointIds(parent, io);
            Path copy = parent.resolve(ImageNames.directory(manifest.id()));
            if (isThere(ids, copy, manifest)) {
                return;
            }
            ids.claim(manifest.id(), WriterLease.own());
            try {
                Optional<HostParts> parts = HostParts.of(source, io);
                if (parts.isEmpty()) {
                    copyAll(manifest, sealed, copy, progress);
                } else {
                    copyJob(manifest, sealed, copy);
                    hosts.copy(new Order(parts.get(), manifest, copy, files.givenUp()), progress);
                    verifyJob(copy);
                }
                Publication.publish(copy, manifest, key, io);
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
                throw new ImageError.Corrupt(copy, -1, "exists already, but is not complete: " + e.getMessage(), e);
            }
            throw new ImageError.Corrupt(copy, -1, "another checkpoint with this number exists; move it away, or "
                    + "give another directory");
        }

        private void copyAll(Manifest manifest, byte[] sealed, Path copy, Progress progress) throws IOException {
            long[] copied = {0};
            files.copy(manifest.files(), source, copy,
                    bytes -> progress.copied(copied[0] += bytes, 2 * manifest.storedBytes()));
            nameManifest(sealed, copy);
            try (UncommittedView view = new UncommittedView(io.session(), copy);
                    CheckpointReader reader = CheckpointReader.open(copy, key, view)) {
                reader.verify((done, total) -> {
                    files.goOn();
                    // What it needs of older checkpoints is read too.
                    progress.copied(manifest.storedBytes() + (long) ((double) manifest.storedBytes() * done / total),
                            2 * manifest.storedBytes());
                });
            }
        }

        /** What the nodes' hosts have to see. */
        private void copyJob(Manifest manifest, byte[] sealed, Path copy) throws IOException {
            files.copy(manifest.files().stream().filter(file -> file.name().startsWith(ImageNames.JOB)).toList(),
                    source, copy, _ -> {});
            nameManifest(sealed, copy);
        }

        private void nameManifest(byte[] sealed, Path copy) throws IOException {
            io.syncDirectory(copy);
            io.syncDirectory(parent);
            SmallFiles.write(io, copy.resolve(ImageNames.MANIFEST_TEMPORARY), sealed);
            io.syncDirectory(copy);
        }

        /** And that all that the hosts have copied is seen from here, as long as it should be. */
        private void verifyJob(Path copy) throws IOException {
            try (UncommittedView view = new UncommittedView(io.session(), copy);
                    CheckpointReader reader = CheckpointReader.open(copy, key, view)) {
                reader.verifyJob();
            }
        }

        private void remove(Path copy, Throwable cause) {
            try {
                CheckpointRemoval.remove(copy, io);
            } catch (IOException e) {
                cause.addSuppressed(e); // what is left is incomplete, and cleaned once this process has ended
            }
        }
    }
}
