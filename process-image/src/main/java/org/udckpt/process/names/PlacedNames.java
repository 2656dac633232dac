package org.udckpt.process.names;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;

/**
 * Makes the names of a job again, each in one step and with its owner. What the former incarnation has left is put
 * aside first. Closing without a commit takes all back.
 */
public final class PlacedNames implements AutoCloseable {
    private static final String NEW = "new", OLD = "old";
    private static final int GROUP = 070;
    /** Where a name is made that stands nowhere any more. */
    private static final List<String> ANYWHERE = List.of("/tmp", "/dev/shm", "/var/tmp");

    /** One name that stands. @param staging with what stood there before; null: nothing did */
    private record Placed(Folder folder, String name, Files.Stat made, StagingDirectory staging) {}

    private record Directory(Folder parent, String name) {}

    private final String root;
    private final OwnDirectories directories;
    private final OpenFiles open = new OpenFiles();
    private final Standing standing;
    private final Consumer<String> warn;
    private final List<Placed> placed = new ArrayList<>();
    private final List<Directory> made = new ArrayList<>();
    private final Set<String> paths = new HashSet<>();
    private boolean committed;

    /** Hears of each name that stands. */
    public interface Standing {
        void stands(String path, Files.Stat what);
    }

    /**
     * @param standing hears of each name that is made
     * @param root /proc/PID/root of a process that sees the names where they are to stand; "": as this one does
     * @param warn hears of what could not be as it was, and is no hindrance
     */
    public PlacedNames(OwnDirectories directories, String root, Standing standing, Consumer<String> warn) {
        this.standing = standing;
        this.directories = directories;
        this.root = root;
        this.warn = warn;
    }

    /** Opens what was made, in the process that is to have it. */
    public interface Opener {
        /**
         * @param path where it is as long as nobody else can reach it.
         * @param made what must be there. A descriptor of that process
         */
        long open(String path, Files.Stat made);
    }

    /**
     * Makes a FIFO or an empty file; it comes to its place when it is open, and has the mode that the opener gives it
     * ({@link #mode}).
     */
    public long make(NewName wanted, Opener opener) {
        try (Stage stage = stage(wanted)) {
            Folder own = stage.folder();
            switch (wanted.kind()) {
                case SHARED_MEMORY -> Files.close(own.create(NEW, Syscall.O_RDWR));
                case FIFO -> own.makeFifo(NEW);
                case SOCKET, DIRECTORY, LINK -> throw new IllegalArgumentException(
                        "a socket is bound by the process that has it, and a directory or a link has no content: "
                                + wanted);
            }
            give(own, NEW, wanted);
            long fd = opener.open(own.below(NEW), own.stat(NEW));
            stage.place(own, NEW);
            return fd;
        }
    }

    /**
     * Makes an empty file that has lost its name, in the directory where that was, or in the nearest one above it that
     * is there and can be written to (permissions and mounts may have changed since), or else anywhere. /proc shows it
     * by that name, if it is free.
     *
     * @param path of its name
     */
    public long makeNameless(String path, Opener opener) {
        return makeNameless(path, (folder, name) -> Files.close(folder.create(name, Syscall.O_RDWR)), opener);
    }

    /** The same of a symbolic link. @param wanted with the name that it had */
    public long makeNamelessLink(NewName wanted, String target, Opener opener) {
        return makeNameless(wanted.path(), (folder, name) -> {
            folder.symbolicLink(target, name);
            give(folder, name, wanted);
        }, opener);
    }

    private long makeNameless(String path, BiConsumer<Folder, String> make, Opener opener) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        String directory = path.substring(0, Math.max(1, path.lastIndexOf('/')));
        try (Folder nearest = nearestWritable(directory, "the file " + path + ", which was deleted while it was open,");
                StagingDirectory staging = StagingDirectory.in(nearest)) {
            Folder own = staging.folder();
            make.accept(own, name);
            Files.Stat made = own.stat(name);
            long fd = opener.open(own.below(name), made);
            if (nearest.path().equals(directory) && own.move(name, nearest, name)) {
                Files.Stat moved = nearest.stat(name);
                if (moved != null && moved.isSame(made)) {
                    nearest.unlink(name);
                }
            }
            return fd;
        }
    }

    /**
     * Makes an empty directory that is to lose its name: by that name, or beside it where it is taken, in its parent or
     * the nearest directory above that is there.
     *
     * @param wanted with the name that it had
     * @param above its parent, if that is to lose its name, too; else null
     * @return to be closed when it is open, and all that were in it: then it has no name
     */
    public NamelessDirectory makeNamelessDirectory(NewName wanted, NamelessDirectory above, Opener opener) {
        Folder parent = above != null ? above.hold()
                : nearestWritable(wanted.directory(), wanted.shown() + ", which was deleted while it was in use,");
        boolean itsOwn = above != null || parent.path().equals(wanted.directory());
        NamelessDirectory directory = NamelessDirectory.in(parent, wanted.name());
        try {
            Folder prepared = directory.prepared();
            give(prepared, wanted.name(), wanted);
            opener.open(prepared.below(wanted.name()), prepared.stat(wanted.name()));
            if (itsOwn) {
                directory.place();
            }
            return directory;
        } catch (RuntimeException | Error e) {
            directory.close();
            throw e;
        }
    }

    /** @param what needs it */
    private Folder nearestWritable(String directory, String what) {
        String up = directory;
        while (true) {
            Folder folder = directories.nearest(root, up, what);
            if (isWritable(folder)) {
                return folder;
            }
            String there = folder.path();
            folder.close();
            if (there.equals("/")) {
                return anywhere(what);
            }
            up = there.substring(0, Math.max(1, there.lastIndexOf('/')));
        }
    }

    private static boolean isWritable(Folder folder) {
        return Syscall.call(Syscall.FACCESSAT, folder.descriptor(), Scratch.string("."), 2 | 1 /* W_OK, X_OK */) == 0;
    }

    /**
     * Whether this restart has made a name there: a second socket of that name, as accept(2) gives one, has none of its
     * own.
     */
    public boolean has(String path) {
        return paths.contains(path);
    }

    /** Where a name is prepared. @param wanted null: it is not to stand anywhere */
    public Stage stage(NewName wanted) {
        Folder folder = wanted == null ? anywhere("a unix socket of which the name was removed")
                : directories.open(root, wanted.directory(), wanted.shown(), this::remember);
        try {
            return new Stage(wanted, folder, wanted == null ? null : Occupant.check(folder, wanted, open));
        } catch (RuntimeException | Error e) {
            folder.close();
            throw e;
        }
    }

    private Folder anywhere(String what) {
        for (String path : ANYWHERE) {
            try {
                Folder folder = Folder.hold(root, path);
                if (isWritable(folder)) {
                    return folder;
                }
                folder.close();
            } catch (LinuxError notThere) {
                if (notThere.errno() != LinuxError.ENOENT && notThere.errno() != LinuxError.ELOOP) {
                    throw notThere;
                }
            }
        }
        throw new NameRefused(NameRefused.Reason.NO_DIRECTORY, what + " needs a writable directory: none of "
                + ANYWHERE + " is writable");
    }

    private void remember(Folder parent, String name) {
        made.add(new Directory(Folder.hold(root, parent.path()), name));
    }

    /** Gives what was made its owner and group, as far as this user can. */
    public void give(Folder folder, String name, NewName wanted) {
        if (User.id() == 0) {
            folder.owner(name, wanted.owner(), wanted.gid());
        } else if (wanted.gid() >= 0 && wanted.gid() != folder.stat(name).gid()) {
            try {
                folder.owner(name, -1, wanted.gid());
            } catch (LinuxError e) {
                if (e.errno() != LinuxError.EPERM) {
                    throw e;
                }
                warn.accept(wanted.shown() + " belonged to group " + wanted.gid()
                        + ", which this user cannot restore: no group has access now");
            }
        }
    }

    /** Its mode, without rights for a group that it did not have. @param now after {@link #give} */
    public static int mode(NewName wanted, Files.Stat now) {
        return wanted.gid() < 0 || wanted.gid() == now.gid() ? wanted.mode() : wanted.mode() & ~GROUP;
    }

    /** A private directory in which one name is prepared; closing removes it. */
    public final class Stage implements AutoCloseable {
        private final NewName wanted;
        private final Folder target;
        private final Files.Stat old;
        private final StagingDirectory staging;
        private boolean keeps;

        private Stage(NewName wanted, Folder target, Files.Stat old) {
            this.wanted = wanted;
            this.target = target;
            this.old = old;
            this.staging = StagingDirectory.in(target);
        }

        public Folder folder() {
            return staging.folder();
        }

        /** Puts {@code name} of {@code from}, a directory in here, where it is to stand. */
        public Files.Stat place(Folder from, String name) {
            Files.Stat node = from.stat(name);
            if (old != null) {
                putAside();
            }
            if (!from.move(name, target, wanted.name())) {
                putBack(staging, target, wanted.name());
                throw new NameRefused(NameRefused.Reason.ANOTHERS, wanted.shown()
                        + " was just created by another program; end that program, and remove the file");
            }
            keeps = true;
            placed.add(new Placed(target, wanted.name(), node, old == null ? null : staging));
            paths.add(wanted.path());
            standing.stands(wanted.path(), node);
            return node;
        }

        private void putAside() {
            if (target.move(wanted.name(), staging.folder(), OLD) && !staging.folder().stat(OLD).isSame(old)) {
                putBack(staging, target, wanted.name());
                throw new NameRefused(NameRefused.Reason.ANOTHERS, wanted.shown()
                        + " was just replaced by another program; end that program, and remove the file");
            }
        }

        @Override
        public void close() {
            if (keeps && old != null) {
                return; // with what stood there before, until the commit
            }
            staging.close();
            if (!keeps) {
                target.close();
            }
        }
    }

    private static void putBack(StagingDirectory staging, Folder target, String name) {
        if (staging.folder().stat(OLD) != null && !staging.folder().move(OLD, target, name)) {
            throw new NameRefused(NameRefused.Reason.ANOTHERS, target.below(name)
                    + " was created again by another program; its state before the restart was removed");
        }
    }

    /**
     * What the former incarnation has left goes away, and directories get their modes: before the job's watches are
     * there, which would see it, and when only the start is still to come. What was made is taken back all the same
     * without a commit.
     */
    public void settle() {
        RuntimeException first = null;
        for (int i = placed.size() - 1; i >= 0; i--) {
            Placed one = placed.get(i);
            if (one.staging != null) {
                placed.set(i, new Placed(one.folder, one.name, one.made, null));
                first = attempt(one.staging::close, first);
            }
        }
        for (Directory directory : made.reversed()) {
            first = attempt(() -> narrow(directory), first);
        }
        if (first != null) {
            throw first;
        }
    }

    private void narrow(Directory directory) {
        try (Folder folder = directory.parent.sub(directory.name)) {
            directories.narrow(folder);
        } catch (LinuxError e) {
            if (e.errno() != LinuxError.ENOENT) {
                throw e;
            }
        }
    }

    /** The job runs; after {@link #settle}. */
    public void commit() {
        if (placed.stream().anyMatch(one -> one.staging != null)) {
            throw new IllegalStateException("names of the former incarnation still exist");
        }
        committed = true;
        close();
    }

    @Override
    public void close() {
        RuntimeException first = null;
        for (Placed one : placed.reversed()) {
            first = attempt(() -> release(one), first);
        }
        placed.clear();
        for (Directory directory : made.reversed()) {
            first = attempt(() -> release(directory), first);
        }
        made.clear();
        if (first != null) {
            throw first;
        }
    }

    private void release(Placed one) {
        try (Folder folder = one.folder) {
            Files.Stat now = folder.stat(one.name);
            if (!committed && now != null && now.isSame(one.made)) {
                folder.unlink(one.name);
            }
            if (one.staging != null) {
                try (StagingDirectory staging = one.staging) {
                    putBack(staging, folder, one.name);
                }
            }
        }
    }

    private void release(Directory directory) {
        try (Folder parent = directory.parent) {
            if (!committed) {
                parent.removeDirectory(directory.name);
            }
        } catch (LinuxError e) {
            if (e.errno() != LinuxError.ENOENT && e.errno() != 39 /* ENOTEMPTY: another program uses it already */) {
                throw e;
            }
        }
    }

    private static RuntimeException attempt(Runnable action, RuntimeException first) {
        try {
            action.run();
            return first;
        } catch (RuntimeException e) {
            return first == null ? e : first;
        }
    }
}
