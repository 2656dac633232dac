package org.udckpt.process.kinds.mount;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.AT_EMPTY_PATH;
import static org.udckpt.linux.LinuxConstants.AT_REMOVEDIR;
import static org.udckpt.linux.LinuxConstants.AT_SYMLINK_NOFOLLOW;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountThread;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.FilesystemEntry;
import org.udckpt.process.model.SharedMemory;

/**
 * Writes what is in a new tmpfs, or a new overlay. All names are looked for below its root directory, on this file
 * system and without symbolic links, so that nothing else is written to whatever an image says.
 */
final class EntryWriter {
    private static final long SECOND_NS = 1_000_000_000L;

    private final RestoreScope scope;
    private final int root;
    private final List<FilesystemEntry> entries;
    private MountThread creator;
    private boolean over;

    /** @param root descriptor of the mount */
    EntryWriter(RestoreScope scope, int root, List<FilesystemEntry> entries) {
        this.scope = scope;
        this.root = root;
        this.entries = entries;
    }

    /**
     * Directories get their modes after what is in them: they may keep out who is not root.
     *
     * @param creator makes all names, where root may have no number in the user namespace that owns the file system;
     *     null: this process does
     */
    void write(MountThread creator) {
        this.creator = creator;
        entries.forEach(this::make);
        entries.reversed().stream().filter(entry -> isFirst(entry) && !isRemoval(entry)).forEach(this::attributes);
    }

    /** The same in an overlay, which shows also what is in its layers: that is changed, or removed. */
    void writeOver(MountThread creator) {
        over = true;
        write(creator);
    }

    private long create(long call, long... arguments) {
        return MountCalls.by(creator, call, arguments);
    }

    private void make(FilesystemEntry entry) {
        if (!entry.path().equals("/")) {
            int parent = MountCalls.beneath(root, parent(entry.path()));
            try {
                if (!over || !isThere(entry, parent, name(entry.path()))) {
                    make(entry, parent, name(entry.path()));
                }
            } finally {
                Files.close(parent);
            }
        }
    }

    /** Whether a file is there already that is to be changed; what is to be another one, or to be none, is removed. */
    private boolean isThere(FilesystemEntry entry, int parent, String name) {
        Files.Stat there = Files.tryLinkStat(Files.ofDescriptor(parent) + "/" + name);
        boolean same = there != null && there.type() == FilesystemEntryKind.type(entry) && isFirst(entry)
                && (there.type() == Files.Stat.DIRECTORY || there.type() == Files.Stat.REGULAR);
        if (there != null && !same) {
            remove(parent, name, there, entry.path());
        }
        return same || isRemoval(entry);
    }

    /** As {@link LowerLayers#isRemoved}. */
    private boolean isRemoval(FilesystemEntry entry) {
        return over && FilesystemEntryKind.type(entry) == Files.Stat.CHARACTER && entry.rawDevice() == 0;
    }

    private void remove(int parent, String name, Files.Stat there, String path) {
        boolean directory = there.type() == Files.Stat.DIRECTORY;
        if (directory) {
            int opened = MountCalls.beneath(parent, "/" + name);
            try (Folder folder = Folder.of(path, Files.open(Files.ofDescriptor(opened) + "/.",
                    Syscall.O_RDONLY | Syscall.O_DIRECTORY))) {
                for (String below : folder.names()) {
                    Files.Stat stat = folder.stat(below);
                    if (stat != null) { // else whoever has the layer has removed it in this moment
                        remove(folder.descriptor(), below, stat, path + "/" + below);
                    }
                }
            } finally {
                Files.close(opened);
            }
        }
        LinuxError.check(create(Syscall.UNLINKAT, parent, Scratch.string(name), directory ? AT_REMOVEDIR : 0),
                "remove " + path + " from an overlay of the job's");
    }

    private static String parent(String path) {
        return path.substring(0, Math.max(1, path.lastIndexOf('/')));
    }

    /** Whether it is no further name of a file. */
    private static boolean isFirst(FilesystemEntry entry) {
        return FilesystemEntryKind.type(entry) == Files.Stat.LINK || entry.target().isEmpty();
    }

    private void make(FilesystemEntry entry, int parent, String name) {
        int type = FilesystemEntryKind.type(entry);
        long result = !isFirst(entry) ? link(entry, parent, name) : switch (type) {
            case Files.Stat.DIRECTORY -> create(Syscall.MKDIRAT, parent, Scratch.string(name), 0700);
            case Files.Stat.LINK -> create(Syscall.SYMLINKAT, Scratch.second(entry.target()), parent,
                    Scratch.string(name));
            default -> create(Syscall.MKNODAT, parent, Scratch.string(name), type | 0600, entry.rawDevice());
        };
        LinuxError.check(result, "make " + entry.path() + " in a file system of the job's");
    }

    private long link(FilesystemEntry entry, int parent, String name) {
        int first = MountCalls.beneath(root, parent(entry.target()));
        try {
            return create(Syscall.LINKAT, first, Scratch.string(name(entry.target())), parent, Scratch.second(name), 0);
        } finally {
            Files.close(first);
        }
    }

    private static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private void attributes(FilesystemEntry entry) {
        int file = MountCalls.beneath(root, entry.path());
        try {
            String self = Files.ofDescriptor(file);
            if (FilesystemEntryKind.type(entry) == Files.Stat.LINK) {
                LinuxError.check(Syscall.call(Syscall.FCHOWNAT, file, Scratch.string(""), entry.uid(), entry.gid(),
                        AT_EMPTY_PATH), "owner of " + entry.path());
                return;
            }
            SharedMemory content = entry.content() == 0 ? null : scope.objects(SharedMemory.class).stream()
                    .filter(memory -> memory.id() == entry.content()).findFirst().orElseThrow();
            if (content != null) {
                fill(content, self, entry.path());
            }
            Files.attributes(file, entry.path(), entry.uid(), entry.gid(), entry.fileMode(), 0);
            ExtendedAttributes.set(self, entry.path(), entry.extended());
        } finally {
            Files.close(file);
        }
    }

    private void fill(SharedMemory content, String self, String path) {
        int fd = Files.open(self, Syscall.O_RDWR);
        long result = Syscall.call(Syscall.FTRUNCATE, fd, content.size());
        scope.fillHere(content, fd);
        LinuxError.check(result, "set the size of " + path);
    }

    /** The descriptor of the mount. */
    int root() {
        return root;
    }

    /** When all contents are in. */
    void setTimes() {
        for (FilesystemEntry entry : entries) {
            if (isRemoval(entry)) {
                continue;
            }
            int parent = MountCalls.beneath(root, parent(entry.path()));
            try {
                setTimes(entry, parent);
            } finally {
                Files.close(parent);
            }
        }
    }

    private static void setTimes(FilesystemEntry entry, int parent) {
        String name = name(entry.path());
        MemorySegment times = Scratch.data().asSlice(0, 32); // struct timespec[2]
        times.set(JAVA_LONG, 0, Math.floorDiv(entry.accessedNs(), SECOND_NS));
        times.set(JAVA_LONG, 8, Math.floorMod(entry.accessedNs(), SECOND_NS));
        times.set(JAVA_LONG, 16, Math.floorDiv(entry.modifiedNs(), SECOND_NS));
        times.set(JAVA_LONG, 24, Math.floorMod(entry.modifiedNs(), SECOND_NS));
        LinuxError.check(Syscall.call(Syscall.UTIMENSAT, parent, Scratch.string(name.isEmpty() ? "." : name),
                times.address(), AT_SYMLINK_NOFOLLOW), "set the times of " + entry.path());
    }

    void close() {
        Files.close(root);
    }
}
