package org.udckpt.image.catalogue;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.manifest.ManifestFile;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.storage.RateLimit;
import org.udckpt.image.storage.StorageIo;

/**
 * A node's share of a {@link CheckpointCopy}: copies its part, which only its own host has, to the checkpoint's copy
 * that another process has begun, and reads it back there. It trusts that process no more than the manifest that lies
 * there, under the user's key.
 */
public final class PartCopy {
    private final HostParts parts;
    private final Path copy;
    private final ImageKey key;
    private final RateLimit rate;
    private final BooleanSupplier givenUp;
    private final StorageIo storage;

    /**
     * @param parts where the part is
     * @param copy  {@code DIR/ckpt-0007}, with the manifest as it will be
     * @param rate  of the bytes that are written
     * @param givenUp asked often; once it says so the copy ends, and what there is of it is for who began the whole
     */
    public PartCopy(HostParts parts, Path copy, ImageKey key, RateLimit rate, BooleanSupplier givenUp) {
        this(parts, copy, key, rate, givenUp, LocalStorage.INSTANCE);
    }

    /** As the other one, in a file system of the caller's. */
    public PartCopy(HostParts parts, Path copy, ImageKey key, RateLimit rate, BooleanSupplier givenUp,
            StorageIo storage) {
        this.parts = parts;
        this.copy = copy.toAbsolutePath().normalize();
        this.key = key;
        this.rate = rate;
        this.givenUp = givenUp;
        this.storage = storage;
    }

    /**
     * Returns when it is there, durable, and what the manifest says.
     *
     * @throws java.util.concurrent.CancellationException when it was given up
     * @throws ImageError {@code Missing} when this host has no such part, or does not see the copy
     */
    public void run(int node) throws IOException {
        try (StorageIo.Session io = storage.session(); UncommittedView view = new UncommittedView(io.session(), copy)) {
            run(node, io, view);
        }
    }

    private void run(int node, StorageIo.Session io, UncommittedView view) throws IOException {
        CheckpointFileCopies files = new CheckpointFileCopies(io, rate, givenUp);
        Manifest manifest = ManifestFile.load(copy, key, view, _ -> false).manifest();
        List<Manifest.FileEntry> own =
                manifest.files().stream().filter(file -> file.name().startsWith(ImageNames.node(node))).toList();
        Path part = parts.part(node, manifest.id());
        try {
            files.copy(own, part, copy, _ -> {});
        } catch (NoSuchFileException e) {
            throw new ImageError.Missing(Path.of(e.getFile()), e.getFile().startsWith(part.toString())
                    ? "missing: this host does not have that part" : "cannot be created");
        }
        io.syncDirectory(copy);
        try (CheckpointReader reader = CheckpointReader.openNode(copy, key, view, node)) {
            reader.verifyNode(node, (_, _) -> files.goOn());
        }
    }
}
