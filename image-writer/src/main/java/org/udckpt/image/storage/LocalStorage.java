package org.udckpt.image.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.udckpt.linux.Trust;

/** Images in a POSIX file system. There is no state here: that is in a {@link LocalSession}. */
public final class LocalStorage implements StorageIo {
    /** For readers: whoever owns the directory, only sealed content is trusted. */
    public static final LocalStorage INSTANCE = new LocalStorage(Trust.ANY);

    private final Trust trust;

    private LocalStorage(Trust trust) {
        this.trust = trust;
    }

    /** @param trust asked of each directory of checkpoints, and of those above it, when it is opened */
    public static LocalStorage of(Trust trust) {
        return trust == Trust.ANY ? INSTANCE : new LocalStorage(trust);
    }

    @Override
    public Session session() {
        return new LocalSession(trust);
    }

    @Override
    public boolean hasDirectory(Path directory) throws IOException {
        try (Session session = session()) {
            return session.hasDirectory(directory);
        }
    }

    @Override
    public void makeDirectories(Path directory) throws IOException {
        try (Session session = session()) {
            session.makeDirectories(directory);
        }
    }

    @Override
    public Kind kind(Path path) throws IOException {
        try (Session session = session()) {
            return session.kind(path);
        }
    }

    @Override
    public void createDirectory(Path directory) throws IOException {
        try (Session session = session()) {
            session.createDirectory(directory);
        }
    }

    @Override
    public Output create(Path file, boolean direct) throws IOException {
        try (Session session = session()) {
            return session.create(file, direct);
        }
    }

    @Override
    public Input open(Path file) throws IOException {
        try (Session session = session()) {
            return session.open(file);
        }
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
        try (Session session = session()) {
            session.rename(from, to);
        }
    }

    @Override
    public void syncDirectory(Path directory) throws IOException {
        try (Session session = session()) {
            session.syncDirectory(directory);
        }
    }

    @Override
    public void delete(Path path) throws IOException {
        try (Session session = session()) {
            session.delete(path);
        }
    }

    @Override
    public List<Path> list(Path directory) throws IOException {
        try (Session session = session()) {
            return session.list(directory);
        }
    }

    @Override
    public Closeable hold(Path file) throws IOException {
        try (Session session = session()) {
            return session.hold(file);
        }
    }

    @Override
    public Optional<Closeable> exclude(Path file) throws IOException {
        try (Session session = session()) {
            return session.exclude(file);
        }
    }

    @Override
    public Closeable lock(Path file) throws IOException {
        try (Session session = session()) {
            return session.lock(file);
        }
    }
}
