package org.udckpt.image.catalogue;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.udckpt.image.ImageNames;
import org.udckpt.image.storage.ReadOnlyView;
import org.udckpt.image.storage.StorageIo;

/** A checkpoint directory as it will be once its manifest is renamed: so that it can be verified before it exists. */
final class UncommittedView extends ReadOnlyView {
    private final Path manifest;

    UncommittedView(StorageIo.Session io, Path directory) {
        super(io);
        this.manifest = directory.resolve(ImageNames.MANIFEST);
    }

    @Override
    public Session session() {
        return new UncommittedView(io().session(), manifest.getParent());
    }

    @Override
    public Input open(Path file) throws IOException {
        return io().open(now(file));
    }

    @Override
    public Closeable hold(Path file) throws IOException {
        return io().hold(now(file));
    }

    private Path now(Path file) {
        return file.equals(manifest) ? file.resolveSibling(ImageNames.MANIFEST_TEMPORARY) : file;
    }
}
