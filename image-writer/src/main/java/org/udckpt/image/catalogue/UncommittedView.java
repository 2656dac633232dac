package org.udckpt.image.catalogue;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.udckpt.image.ImageNames;
import org.udckpt.image.storage.StorageIo;

/** A checkpoint directory as it will be once its manifest is renamed: so that it can be verified before it exists. Only to read. */
final class UncommittedView implements StorageIo {
    private final StorageIo io;
    private final Path manifest;

    UncommittedView(StorageIo io, Path directory) {
        this.io = io;
        this.manifest = directory.resolve(ImageNames.MANIFEST);
    }

    @Override
    public Input open(Path file) throws IOException {
        return io.open(file.equals(manifest) ? file.resolveSibling(ImageNames.MANIFEST_TEMPORARY) : file);
    }

    @Override
    public List<Path> list(Path directory) throws IOException {
        return io.list(directory);
    }

    @Override
    public void createDirectory(Path directory) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Output create(Path file, boolean direct) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void rename(Path from, Path to) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void syncDirectory(Path directory) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void delete(Path path) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Closeable lock(Path file) {
        throw new UnsupportedOperationException();
    }
}
