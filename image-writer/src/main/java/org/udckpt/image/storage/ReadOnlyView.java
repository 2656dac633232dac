package org.udckpt.image.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Files of another storage, some of which are found elsewhere than where they are looked for. Only to read. */
public abstract class ReadOnlyView implements StorageIo.Session {
    private final StorageIo.Session io;

    /** @param io is closed with it */
    protected ReadOnlyView(StorageIo.Session io) {
        this.io = io;
    }

    protected final StorageIo.Session io() {
        return io;
    }

    @Override
    public final void close() throws IOException {
        io.close();
    }

    @Override
    public final boolean hasDirectory(Path directory) throws IOException {
        return io.hasDirectory(directory);
    }

    @Override
    public final Kind kind(Path path) throws IOException {
        return io.kind(path);
    }

    @Override
    public final List<Path> list(Path directory) throws IOException {
        return io.list(directory);
    }

    @Override
    public final void makeDirectories(Path directory) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final void createDirectory(Path directory) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final Output create(Path file, boolean direct) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final void rename(Path from, Path to) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final void syncDirectory(Path directory) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final void delete(Path path) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Closeable hold(Path file) throws IOException {
        return io.hold(file);
    }

    @Override
    public final Optional<Closeable> exclude(Path file) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final Closeable lock(Path file) {
        throw new UnsupportedOperationException();
    }
}
