package org.udckpt.image.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.linux.FileHold;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.Trust;
import org.udckpt.linux.UntrustedPath;

/**
 * Directories of a POSIX file system that are held open. All work is done below their descriptors ({@link Folder}); a
 * path serves to find the directory that was opened for it, and in messages. What is in a checkpoint is written and
 * removed only where nobody else writes.
 */
final class LocalSession implements StorageIo.Session {
    private final Trust trust;
    private final Map<Path, Folder> open = new HashMap<>();
    private int users = 1;

    LocalSession(Trust trust) {
        this.trust = trust;
    }

    @Override
    public synchronized StorageIo.Session session() {
        users++;
        return this;
    }

    @Override
    public synchronized void close() {
        if (--users == 0) {
            open.values().forEach(Folder::close);
            open.clear();
        }
    }

    /** Work in a directory. */
    @FunctionalInterface
    private interface Work<T> {
        T in(Folder folder, String name) throws IOException;
    }

    /** Does what is to be done with a name in the directory that it is in. */
    private <T> T work(Path path, Work<T> work) throws IOException {
        Path absolute = path.toAbsolutePath().normalize();
        if (absolute.getParent() == null) {
            throw new NoSuchFileException(path.toString(), null, "the root directory is in no other one");
        }
        try {
            return work.in(folder(absolute.getParent()), absolute.getFileName().toString());
        } catch (LinuxError | UntrustedPath e) {
            throw FileFailure.of(path, e);
        }
    }

    private <T> T workIn(Path directory, Work<T> work) throws IOException {
        try {
            return work.in(folder(directory.toAbsolutePath().normalize()), "");
        } catch (LinuxError | UntrustedPath e) {
            throw FileFailure.of(directory, e);
        }
    }

    private Folder folder(Path directory) {
        if (users == 0) {
            throw new IllegalStateException("directories are looked at that were closed: " + directory);
        }
        Folder folder = open.get(directory);
        if (folder == null) {
            Path parent = directory.getParent();
            boolean below = parent != null && (open.containsKey(parent) || ImageNames.id(directory).isPresent());
            folder = below ? folder(parent).sub(directory.getFileName().toString())
                    : Folder.reach(directory.toString(), trust);
            open.put(directory, folder);
        }
        return folder;
    }

    /** The directory of a checkpoint, or of a part of one, is this user's alone: it was made so. */
    private static void requireWriter(Path path, Folder folder) {
        if (ImageNames.id(path.toAbsolutePath().normalize().getParent()).isPresent()) {
            folder.requireWriter();
        }
    }

    @Override
    public synchronized boolean hasDirectory(Path directory) throws IOException {
        try {
            return workIn(directory, (_, _) -> true);
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    @Override
    public synchronized void makeDirectories(Path directory) throws IOException {
        if (hasDirectory(directory)) {
            return;
        }
        Path absolute = directory.toAbsolutePath().normalize();
        makeDirectories(absolute.getParent()); // the root directory is there
        try {
            work(absolute, (folder, name) -> open.put(absolute, folder.makeVisibleSub(name)));
        } catch (FileAlreadyExistsException e) {
            // somebody made it between the two calls, or it is a link that leads nowhere
            if (!hasDirectory(directory)) {
                throw new NotDirectoryException(directory.toString());
            }
        }
    }

    @Override
    public synchronized StorageIo.Kind kind(Path path) throws IOException {
        return work(path, (folder, name) -> {
            Files.Stat stat = folder.stat(name);
            return stat == null ? StorageIo.Kind.NOTHING : switch (stat.type()) {
                case Files.Stat.REGULAR -> StorageIo.Kind.FILE;
                case Files.Stat.DIRECTORY -> StorageIo.Kind.DIRECTORY;
                case Files.Stat.LINK -> StorageIo.Kind.LINK;
                default -> StorageIo.Kind.OTHER;
            };
        });
    }

    @Override
    public synchronized void createDirectory(Path directory) throws IOException {
        work(directory, (folder, name) -> open.put(directory.toAbsolutePath().normalize(), folder.makeSub(name)));
    }

    @Override
    public synchronized Output create(Path file, boolean direct) throws IOException {
        return work(file, (folder, name) -> {
            requireWriter(file, folder);
            int made = folder.create(name, Syscall.O_WRONLY);
            try {
                return output(file, made, direct);
            } catch (IOException | RuntimeException | Error e) {
                Files.close(made);
                throw e;
            }
        });
    }

    private static Output output(Path file, int descriptor, boolean direct) throws IOException {
        FileChannel past = direct ? DirectFile.open(descriptor, StandardOpenOption.WRITE) : null;
        return past != null ? new LocalOutput(file, descriptor, past, true, false)
                : new LocalOutput(file, descriptor, Files.channel(descriptor, StandardOpenOption.WRITE), false,
                        TmpfsPages.small(descriptor));
    }

    @Override
    public synchronized Input open(Path file) throws IOException {
        return work(file, (folder, name) -> {
            int descriptor = folder.openRegular(name, Syscall.O_RDONLY);
            try {
                return new LocalInput(file, descriptor);
            } finally {
                Files.close(descriptor);
            }
        });
    }

    @Override
    public synchronized void rename(Path from, Path to) throws IOException {
        if (!from.toAbsolutePath().normalize().getParent().equals(to.toAbsolutePath().normalize().getParent())) {
            throw new IllegalArgumentException(from + " and " + to + " are not in one directory");
        }
        work(to, (folder, name) -> {
            requireWriter(to, folder);
            folder.replace(from.getFileName().toString(), name);
            return null;
        });
    }

    @Override
    public synchronized void syncDirectory(Path directory) throws IOException {
        workIn(directory, (folder, _) -> {
            folder.sync();
            return null;
        });
    }

    @Override
    public synchronized void delete(Path path) throws IOException {
        work(path, (folder, name) -> {
            requireWriter(path, folder);
            Files.Stat stat = folder.stat(name);
            if (stat != null && stat.type() == Files.Stat.DIRECTORY) {
                Folder held = open.get(path.toAbsolutePath().normalize());
                if (held != null && !held.stat().isSame(stat)) {
                    throw new UntrustedPath("directory " + path + " was replaced while it was removed: it is left in "
                            + "place");
                }
                folder.removeDirectory(name);
                forget(path.toAbsolutePath().normalize());
            } else {
                folder.unlink(name);
            }
            return null;
        });
    }

    private void forget(Path directory) {
        Folder gone = open.remove(directory);
        if (gone != null) {
            gone.close();
        }
    }

    @Override
    public synchronized List<Path> list(Path directory) throws IOException {
        return workIn(directory, (folder, _) -> folder.names().stream().map(directory::resolve).toList());
    }

    @Override
    public synchronized Closeable hold(Path file) throws IOException {
        return work(file, (folder, name) -> closeable(FileHold.share(folder, name)));
    }

    @Override
    public synchronized Optional<Closeable> exclude(Path file) throws IOException {
        return work(file,
                (folder, name) -> Optional.ofNullable(FileHold.exclude(folder, name)).map(LocalSession::closeable));
    }

    private static Closeable closeable(FileHold hold) {
        return hold::close;
    }

    @Override
    public Closeable lock(Path file) throws IOException {
        Folder directory;
        synchronized (this) { // not while it is waited for: who holds it may need this session
            directory = work(file, (folder, _) -> folder);
        }
        try {
            return ExclusiveLock.take(file, directory, file.getFileName().toString(), ExclusiveLock.MOST_SECONDS);
        } catch (LinuxError | UntrustedPath e) {
            throw FileFailure.of(file, e);
        }
    }
}
