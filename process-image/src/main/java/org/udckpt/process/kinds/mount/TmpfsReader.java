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
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountLine;
import org.udckpt.linux.MountThread;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.files.QuietFiles;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.model.FilesystemEntry;

/**
 * Reads all of a tmpfs that only the job has. A copy of its mount, which is mounted nowhere, shows also what other
 * mounts hide, and leaves times of access alone.
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
    /** By inode: the first name of a file. */
    private final Map<Long, String> names = new HashMap<>();
    private final Set<String> above = new HashSet<>();

    TmpfsReader(ObjectTable table, long filesystem, Contents contents, QuietFiles quiet) {
        this.table = table;
        this.filesystem = filesystem;
        this.contents = contents;
        this.quiet = quiet;
    }

    /** All that is to be seen there; directories above it are made as it is. */
    void read(MountNamespace namespace, MountLine mount) {
        try (MountThread copies = namespace.copy(mount)) {
            long copy = copies.call(Syscall.OPEN_TREE, AT_FDCWD, Scratch.string(mount.point()),
                    OPEN_TREE_CLONE | Syscall.O_CLOEXEC | AT_NO_AUTOMOUNT);
            LinuxError.check(copy, "copy the mount at " + mount.point());
            read((int) copy, copies, mount);
        } catch (LinuxError e) {
            throw namespace.refusal("has a file system at " + mount.point() + ", which cannot be looked at ("
                    + e.getMessage() + ") and so");
        }
    }

    private void read(int copy, MountThread thread, MountLine mount) {
        try {
            MountCalls.change(thread, copy, MOUNT_ATTR_NOATIME, MOUNT_ATTR_ATIME, 0, mount.point());
            Files.Stat stat = Files.stat(copy);
            above(Files.ofDescriptor(copy), mount.root(), stat);
            if (stat.type() != Files.Stat.DIRECTORY) {
                file(Files.ofDescriptor(copy), mount.root(), stat, "");
                return;
            }
            try (Folder root = Folder.of(mount.root(), open(Files.ofDescriptor(copy) + "/.", mount.root()))) {
                entry(Files.ofDescriptor(root.descriptor()), mount.root(), root.stat(), "", 0);
                read(root);
            }
        } finally {
            Files.close(copy);
        }
    }

    private void read(Folder folder) {
        for (String name : folder.names()) {
            Files.Stat stat = folder.stat(name);
            String path = folder.path().equals("/") ? "/" + name : folder.path() + "/" + name;
            String through = Files.ofDescriptor(folder.descriptor()) + "/" + name;
            file(through, path, stat, stat.type() == Files.Stat.LINK ? folder.readLink(name) : "");
            if (stat.type() == Files.Stat.DIRECTORY) {
                try (Folder sub = Folder.of(path, open(through, path))) {
                    read(sub);
                }
            }
        }
    }

    /** @param link what a symbolic link has */
    private void file(String through, String path, Files.Stat stat, String link) {
        String first = stat.type() == Files.Stat.DIRECTORY || stat.links() < 2 ? null
                : names.putIfAbsent(stat.inode(), path);
        boolean content = first == null && stat.type() == Files.Stat.REGULAR && stat.size() > 0;
        entry(through, path, stat, first != null ? first : link, content ? content(through, path, stat) : 0);
    }

    /** Nobody sees the directories above: only their names are needed. */
    private void above(String through, String path, Files.Stat stat) {
        for (int end = 0; end >= 0 && path.length() > 1; end = path.indexOf('/', end + 1)) {
            String directory = end == 0 ? "/" : path.substring(0, end);
            if (above.add(directory)) {
                table.add(new FilesystemEntry(table.newId(), filesystem, directory, Files.Stat.DIRECTORY | 0755,
                        stat.uid(), stat.gid(), 0, accessed(through), stat.modified(), "", 0, new byte[0]));
            }
        }
    }

    private long content(String through, String path, Files.Stat stat) {
        int fd = open(through, path);
        try {
            return contents.add(path, stat, fd);
        } finally {
            Files.close(fd);
        }
    }

    /** Who watches it, or the directory that {@code through} leads through, does not hear of it. */
    private int open(String through, String path) {
        return (int) LinuxError.check(quiet.tryOpen(through, through), "open " + path);
    }

    private void entry(String through, String path, Files.Stat stat, String target, long content) {
        byte[] extended = stat.type() == Files.Stat.LINK ? new byte[0] : ExtendedAttributes.read(through, path);
        table.add(new FilesystemEntry(table.newId(), filesystem, path, stat.mode(), stat.uid(), stat.gid(),
                stat.rawDevice(), accessed(through), stat.modified(), target, content, extended));
    }

    /** When it was read last, in nanoseconds since 1970. */
    private static long accessed(String through) {
        var data = Scratch.data();
        LinuxError
                .check(Syscall.call(Syscall.STATX, AT_FDCWD, Scratch.string(through), AT_SYMLINK_NOFOLLOW, STATX_ATIME,
                        data.address()), "statx " + through);
        return data.get(JAVA_LONG, ATIME_AT) * 1_000_000_000L + data.get(JAVA_INT, ATIME_AT + 8);
    }
}
