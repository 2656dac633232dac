package org.udckpt.image.manifest;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.storage.StorageIo;

/**
 * The manifests of a directory of checkpoints at one moment: each is read once, though in a chain every checkpoint
 * names all those before it. For one look around; not thread-safe.
 */
public final class Manifests {
    private final ImageKey key;
    private final StorageIo io;
    private final Map<Path, Read> known = new HashMap<>();

    /** One of both is null. */
    private record Read(Sealed sealed, IOException problem) {}

    public Manifests(ImageKey key, StorageIo io) {
        this.key = key;
        this.io = io;
    }

    /** As {@link ManifestFile#load}. */
    public Sealed load(Path directory) throws IOException {
        return ManifestFile.load(directory, this::alone);
    }

    private Sealed alone(Path directory) throws IOException {
        Read read = known.get(directory);
        if (read == null) {
            read = read(directory);
            known.put(directory, read);
        }
        if (read.problem() != null) {
            throw read.problem();
        }
        return read.sealed();
    }

    private Read read(Path directory) {
        try {
            return new Read(ManifestFile.alone(directory, key, io), null);
        } catch (IOException e) {
            return new Read(null, e);
        }
    }
}
