package org.udckpt.process.kinds.mount;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.AT_NO_AUTOMOUNT;
import static org.udckpt.linux.LinuxConstants.AT_SYMLINK_NOFOLLOW;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_ATIME;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_NOATIME;
import static org.udckpt.linux.LinuxConstants.OPEN_TREE_CLONE;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountLine;
import org.udckpt.linux.MountThread;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.files.QuietFiles;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.model.FilesystemEntry;

/**
 * Reads all of a tmpfs that only the job has, or what an overlay has besides its layers. A copy of its mount, which is
 * mounted nowhere, shows also what other mounts hide, and leaves times of access alone.
 */
public final class TmpfsReader {
    private static final int STATX_ATIME = 0x20, ATIME_AT = 64;

    /** Where the contents of files go. */
    public interface Contents {
        /** The id of what holds the content of a file that is open. */
        long add(String path, Files.Stat stat, int fd);
    }

    private final ObjectTable table;
    private final long filesystem;
    private final Contents contents;
    private final QuietFiles quiet;
    private final Set<String> emptied;
    /** The first name of a file, as device and inode. */
    private final Map<List<Long>, String> names = new HashMap<>();
    private final Set<String> above = new HashSet<>();
    private MountThread thread;

    /** @param emptied directories of which only the names matter */
    TmpfsReader(ObjectTable table, long filesystem, Contents contents, QuietFiles quiet, Set<String> emptied) {
        this.emptied = emptied;
        this.table = table;
        this.filesystem = filesystem;
        this.contents = contents;
        this.quiet = quiet;
    }

    /** All that is to be seen there; directories above it are made as it is. */
    void read(MountNamespace namespace, MountLine mount) {
        look(namespace, mount, through -> below(mount.root(), through, Map.of()));
    }

    /** @param looker is given a path to what the mount shows, and nothing on it */
    void look(MountNamespace namespace, MountLine mount, Consumer<String> looker) {
        try (MountThread copies = namespace.copy(mount)) {
            long copy = copies.call(Syscall.OPEN_TREE, AT_FDCWD, Scratch.string(mount.point()),
                    OPEN_TREE_CLONE | Syscall.O_CLOEXEC | AT_NO_AUTOMOUNT);
            LinuxError.check(copy, "copy the mount at " + mount.point());
            try {
                // else it is the machine's mount, in a user namespace, where files are read without it (O_NOATIME)
                MountCalls.tryChange(copies, (int) copy, MOUNT_ATTR_NOATIME, MOUNT_ATTR_ATIME, 0);
                thread = copies;
                looker.accept(Files.ofDescriptor((int) copy));
            } finally {
                Files.close((int) copy);
            }
        } catch (LinuxError e) {
            throw namespace.refusal("has a file system at " + mount.point() + ", which cannot be looked at ("
                    + e.getMessage() + ") and so");
        }
    }

    /**
     * What is to be seen under a path, without what layers have.
     *
     * @param path in the file system
     * @param lower what a restart finds in the root directory already
     */
    void below(String path, String through, Map<String, LowerLayers.Found> lower) {
        Files.Stat stat = Files.stat(through);
        above(through, path, stat);
        if (stat.type() != Files.Stat.DIRECTORY) {
            file(new Way(through), path, stat, "");
            return;
        }
        try (Folder root = Folder.of(path, open(new Way(through + "/."), path))) {
            entry(new Way(Files.ofDescriptor(root.descriptor())), path, root.stat(), "", 0);
            read(root, lower);
        }
    }

    private void read(Folder folder, Map<String, LowerLayers.Found> lower) {
        Map<String, LowerLayers.Found> missing = new HashMap<>(lower);
        boolean closed = User.id() != 0 && Files.tryStat(Files.ofDescriptor(folder.descriptor()) + "/.") == null;
        for (String name : folder.names()) {
            Way way = new Way(folder, name, closed);
            Files.Stat stat = closed ? way.by().linkStat(name) : folder.stat(name);
            LowerLayers.Found below = missing.remove(name);
            if (below != null && below.is(stat)) {
                continue;
            }
            String path = folder.below(name);
            file(way, path, stat,
                    stat.type() != Files.Stat.LINK ? "" : closed ? way.by().linkTarget(name) : folder.readLink(name));
            if (stat.type() == Files.Stat.DIRECTORY && !emptied.contains(path)) {
                try (Folder sub = Folder.of(path, open(way, path))) {
                    read(sub, below == null ? Map.of() : below.names());
                }
            }
        }
        for (String name : missing.keySet()) { // as a layer has what was removed
            table.add(
                    new FilesystemEntry(table.newId(), filesystem, folder.below(name), Files.Stat.CHARACTER, 0, 0, 0, 0,
                            0, "", 0, new byte[0]));
        }
    }

    /** What leads to a file. */
    private final class Way {
        /** The directory in which it is; null: it is not known. */
        private final Folder folder;
        private final String name;
        /** Only root in the job's user namespace may enter that: an overlay's working directory lets nobody in. */
        private final boolean closed;
        private final String path;

        Way(String path) {
            this(null, "", false, path);
        }

        Way(Folder folder, String name, boolean closed) {
            this(folder, name, closed, closed ? name : Files.ofDescriptor(folder.descriptor()) + "/" + name);
        }

        private Way(Folder folder, String name, boolean closed, String path) {
            this.folder = folder;
            this.name = name;
            this.closed = closed;
            this.path = path;
        }

        /** For whom {@code path} leads there; null: for this thread. */
        MountThread by() {
            if (!closed) {
                return null;
            }
            LinuxError.check(thread.call(Syscall.FCHDIR, folder.descriptor()), "enter " + folder.path());
            return thread;
        }
    }

    /** @param link what a symbolic link has */
    private void file(Way way, String path, Files.Stat stat, String link) {
        String first = stat.type() == Files.Stat.DIRECTORY || stat.links() < 2 ? null
                : names.putIfAbsent(List.of(stat.device(), stat.inode()), path);
        boolean content = first == null && stat.type() == Files.Stat.REGULAR && stat.size() > 0;
        entry(way, path, stat, first != null ? first : link, content ? content(way, path, stat) : 0);
    }

    /** Nobody sees the directories above: only their names are needed. */
    private void above(String through, String path, Files.Stat stat) {
        for (int end = 0; end >= 0 && path.length() > 1; end = path.indexOf('/', end + 1)) {
            String directory = end == 0 ? "/" : path.substring(0, end);
            if (above.add(directory)) {
                table.add(new FilesystemEntry(table.newId(), filesystem, directory, Files.Stat.DIRECTORY | 0755,
                        stat.uid(), stat.gid(), 0, accessed(null, through), stat.modified(), "", 0, new byte[0]));
            }
        }
    }

    private long content(Way way, String path, Files.Stat stat) {
        int fd = open(way, path);
        try {
            return contents.add(path, stat, fd);
        } finally {
            Files.close(fd);
        }
    }

    /** Who watches it, or the directory that leads to it, does not hear of it. */
    private int open(Way way, String path) {
        long opened = way.closed ? -LinuxError.EACCES : quiet.tryOpen(way.path, way.path);
        if (opened == -LinuxError.EACCES && way.folder != null) {
            opened = thread.call(Syscall.OPENAT, way.folder.descriptor(), Scratch.string(way.name),
                    Syscall.O_RDONLY | Syscall.O_NOFOLLOW | Syscall.O_CLOEXEC, 0);
        }
        return (int) LinuxError.check(opened, "open " + path);
    }

    private void entry(Way way, String path, Files.Stat stat, String target, long content) {
        byte[] extended = stat.type() == Files.Stat.LINK ? new byte[0]
                : ExtendedAttributes.read(way.by(), way.path, path);
        table.add(new FilesystemEntry(table.newId(), filesystem, path, stat.mode(), stat.uid(), stat.gid(),
                stat.rawDevice(), accessed(way.by(), way.path), stat.modified(), target, content, extended));
    }

    /** When it was read last, in nanoseconds since 1970. */
    private static long accessed(MountThread by, String through) {
        var data = Scratch.data();
        LinuxError
                .check(MountCalls.by(by, Syscall.STATX, AT_FDCWD, Scratch.string(through), AT_SYMLINK_NOFOLLOW,
                        STATX_ATIME,
                        data.address()), "statx " + through);
        return data.get(JAVA_LONG, ATIME_AT) * 1_000_000_000L + data.get(JAVA_INT, ATIME_AT + 8);
    }
}
