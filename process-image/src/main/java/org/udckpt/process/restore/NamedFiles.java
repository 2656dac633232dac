package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.O_NOCTTY;
import static org.udckpt.linux.LinuxConstants.RESOLVE_NO_SYMLINKS;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.MountViews;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.Privileges;
import org.udckpt.process.model.ProcFilesystem;
import org.udckpt.process.model.SharedMemory;

/**
 * Finds a job's files and directories by their names. Others may be able to write to a directory above: so no symbolic
 * link is followed (the kernel told these paths without any), and what is opened must be what was looked at before, or
 * what the rollback has put there. Where threads of the job were other users a file must also be the one that it was,
 * unless its content was put back: root opens what those put into their own directories.
 */
final class NamedFiles {
    /** struct open_how of openat2(2). */
    static final int OPEN_HOW_BYTES = 24;

    private final MountViews views;
    /** Whether some processes have a /proc that shows a pid namespace of the job's own. */
    private final boolean ownProcs;
    private int shepherd;
    private final boolean otherUsers;
    private final boolean elsewhere;
    private final VerifiedFiles verified;
    private final Set<String> putBack = new HashSet<>();
    /** What was found at each path. */
    private final Map<String, Files.Stat> seen = new HashMap<>();

    /**
     * @param covered other directories lie over the job's own ({@link PrivateFiles}), where files have other numbers
     * @param putThere {@link RestoreTarget#putBack}
     * @param verified what was found under some names already
     */
    NamedFiles(JobImage image, boolean covered, Map<String, Files.Stat> putThere, VerifiedFiles verified) {
        this.views = MountViews.of(image);
        this.ownProcs = image.objects().stream().anyMatch(ProcFilesystem.class::isInstance);
        this.verified = verified;
        this.otherUsers = image.privileges().stream().anyMatch(Privileges.Credentials.class::isInstance);
        this.elsewhere = covered;
        seen.putAll(putThere);
        for (JobFile file : image.files()) {
            if (file instanceof JobFile.RegularFile || file instanceof JobFile.HardLink) {
                putBack.add(file.path());
            }
        }
        for (var object : image.objects()) {
            if (object instanceof SharedMemory memory && memory.kind() == MemoryKind.DISK_FILE) {
                putBack.add(memory.path());
            }
        }
    }

    /**
     * What a process is to map under a path: a descriptor of this process; null: it opens it by its name, which it also
     * does in a mount namespace of the job's own, so that it is on that one's mount.
     *
     * @param pid as the job numbers it
     */
    Integer given(int pid, String path) {
        boolean own = views.namespace(pid) != 0 && !views.from(pid, path);
        String outside = views.outside(pid, path);
        return outside == null || own && !verified.isFromImage(outside) ? null : verified.mapped(outside);
    }

    /** Where the paths of the image's processes lead. */
    MountViews views() {
        return views;
    }

    /** @param pid as the job numbers it: of a process that is where the job was started */
    void shepherd(int pid) {
        shepherd = pid;
    }

    /** In {@code maker}: a descriptor or {@code -errno}. */
    long tryOpen(Tracee maker, String path, int flags, int mode) {
        return tryOpen(maker, path, flags, mode, views.from(maker.pid(), path));
    }

    /** @param before the path is from before it was in its mount namespace */
    long tryOpen(Tracee maker, String path, int flags, int mode, boolean before) {
        long fd = before && views.namespace(maker.pid()) != 0 ? tryOpenOutside(maker, path, flags, mode)
                : maker.tryCall(Syscall.OPENAT2, AT_FDCWD, maker.string(path), how(maker, flags, mode), OPEN_HOW_BYTES);
        if (fd == -LinuxError.ELOOP) {
            throw link(path);
        }
        return fd;
    }

    /** What it had before it was in its mount namespace. */
    private long tryOpenOutside(Tracee maker, String path, int flags, int mode) {
        if (ownProcs) { // in which the shepherd has no number, or another process that one
            return give(maker, path, flags);
        }
        long root = maker.tryCall(Syscall.OPEN, maker.string("/proc/" + shepherd + "/root"),
                Syscall.O_PATH | Syscall.O_DIRECTORY | Syscall.O_CLOEXEC, 0);
        if (root == -LinuxError.EACCES) { // in a user namespace of the job's own
            return give(maker, path, flags);
        }
        LinuxError.check(root, maker.name() + ": open the root directory outside");
        long fd = maker.tryCall(Syscall.OPENAT2, root, maker.string(path.equals("/") ? "." : path.substring(1)),
                how(maker, flags, mode), OPEN_HOW_BYTES);
        maker.call("close", Syscall.CLOSE, root);
        return fd;
    }

    private long give(Tracee maker, String path, int flags) {
        int file;
        try {
            file = open("", path, flags & ~Syscall.O_CREAT);
        } catch (LinuxError e) {
            return -e.errno();
        }
        try {
            return Handover.give(maker, List.of(file))[0];
        } finally {
            Files.close(file);
        }
    }

    /**
     * The same, of what was looked at before: it must be that, and nothing else is opened for reading or writing, such
     * as a FIFO for whose other end that would wait.
     */
    long tryOpenSeen(Tracee maker, String path, int flags) {
        return tryOpenSeen(maker, path, flags, views.from(maker.pid(), path));
    }

    /** @param before as with {@link #tryOpen(Tracee, String, int, int, boolean)} */
    long tryOpenSeen(Tracee maker, String path, int flags, boolean before) {
        String outside = before ? path : views.outside(maker.pid(), path);
        boolean twice = seen.containsKey(outside) && (flags & (Syscall.O_PATH | Syscall.O_NOFOLLOW)) == 0;
        long fd = tryOpen(maker, path, twice ? Syscall.O_PATH | Syscall.O_CLOEXEC : flags, 0, before);
        if (fd < 0) {
            return fd;
        }
        verify(outside, stat(maker, fd));
        if (!twice) {
            return fd;
        }
        long opened = maker.reopen(fd, flags);
        maker.call("close", Syscall.CLOSE, fd);
        return opened;
    }

    /**
     * Of this process: what the job watches, by a descriptor that only names it (O_PATH). A symbolic link is meant
     * itself.
     */
    int openSeen(Tracee maker, String path) {
        String root = "/proc/" + maker.hostPid() + "/root";
        int file = path.equals("/") ? Files.open(root + path, Syscall.O_PATH) : open(root, path, Syscall.O_PATH);
        try {
            verify(views.outside(maker.pid(), path), Files.stat(file));
            return file;
        } catch (RuntimeException | Error e) {
            Files.close(file);
            throw e;
        }
    }

    /**
     * The same as one call of many, of which the result is to be {@link #verifyOpened verified}; its place among them.
     */
    int open(Batch batch, String path, int flags) {
        ByteBuffer how = ByteBuffer.allocate(OPEN_HOW_BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(flags).putLong(0)
                .putLong(RESOLVE_NO_SYMLINKS);
        return batch.add(
                () -> "open " + path
                        + " (ELOOP: it, or a directory above it, is a symbolic link now; none is followed)",
                Syscall.OPENAT2, AT_FDCWD, batch.string(path), batch.bytes(how.array()),
                OPEN_HOW_BYTES);
    }

    void verifyOpened(Tracee maker, String path, long fd) {
        String outside = views.outside(maker.pid(), path);
        if (seen.containsKey(outside)) {
            verify(outside, stat(maker, fd));
        }
        if (views.namespace(maker.pid()) != 0 && outside != null) {
            verified.requireMapped(outside, stat(maker, fd));
        }
    }

    /** openat2(2) refuses what open(2) ignores. */
    private static long how(Tracee maker, int flags, int mode) {
        int exact = (flags & Syscall.O_PATH) == 0 ? flags
                : flags & (Syscall.O_PATH | Syscall.O_DIRECTORY | Syscall.O_NOFOLLOW | Syscall.O_CLOEXEC);
        boolean makes = (flags & Syscall.O_CREAT) != 0 || (flags & Syscall.O_TMPFILE) == Syscall.O_TMPFILE;
        return maker.structure().i64(Integer.toUnsignedLong(exact)).i64(makes ? mode : 0).i64(RESOLVE_NO_SYMLINKS)
                .put();
    }

    /** Opens, in {@code maker}, what this process has just made. */
    static long openMade(Tracee maker, String path, int flags, Files.Stat made) {
        long fd = maker.tryCall(Syscall.OPENAT2, AT_FDCWD, maker.string(path), how(maker, flags | Syscall.O_CLOEXEC, 0),
                OPEN_HOW_BYTES);
        LinuxError.check(fd, maker.name() + ": open " + path);
        if (!stat(maker, fd).isSame(made)) {
            throw exchanged(path);
        }
        return fd;
    }

    /** The same of a directory. */
    static long openDirectory(Tracee maker, String path, Files.Stat made) {
        return openMade(maker, path, Syscall.O_PATH | Syscall.O_DIRECTORY, made);
    }

    /** What the job's {@code fd} in {@code maker} is. */
    static Files.Stat stat(Tracee maker, long fd) {
        return Files.stat("/proc/" + maker.hostPid() + "/fd/" + fd);
    }

    /** Looks at a path, and remembers what is there. @throws LinuxError naming the path */
    Files.Stat look(String path) {
        return look(path, false);
    }

    /** @param link the path may be that of a symbolic link itself (O_NOFOLLOW) */
    Files.Stat look(String path, boolean link) {
        Files.Stat stat = stat("", path, link);
        Files.Stat before = seen.putIfAbsent(path, stat);
        if (before != null) {
            verify(path, stat);
        }
        return stat;
    }

    /**
     * @param root of the file system as the job sees it; "": as this process does
     * @throws LinuxError naming the path
     */
    Files.Stat stat(String root, String path) {
        return stat(root, path, false);
    }

    private static Files.Stat stat(String root, String path, boolean link) {
        if (path.equals("/")) {
            return Files.stat(root + path);
        }
        try (Folder folder = folder(root, path)) {
            Files.Stat stat = folder.stat(name(path));
            if (stat == null) {
                throw new LinuxError("stat " + path, LinuxError.ENOENT);
            }
            if (!link && stat.type() == Files.Stat.LINK) {
                throw link(path);
            }
            return stat;
        }
    }

    /** A descriptor of this process; {@code root} as with {@link #stat(String, String)}. */
    int open(String root, String path, int flags) {
        try (Folder folder = folder(root, path)) {
            long fd = folder.tryOpenFile(name(path), flags | O_NOCTTY);
            if (fd == -LinuxError.ELOOP) {
                throw link(path);
            }
            return (int) LinuxError.check(fd, "open " + path);
        }
    }

    private static Folder folder(String root, String path) {
        try {
            return Folder.open(root, path.substring(0, Math.max(1, path.lastIndexOf('/'))));
        } catch (LinuxError e) {
            throw e.errno() == LinuxError.ELOOP ? link(path) : e;
        }
    }

    private static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** Notes a file that has just been put at a path, whatever was seen there before. */
    void stands(String path, Files.Stat what) {
        seen.put(path, what);
    }

    /** Whether what was opened is what was seen there, or put there. @throws RestoreException it is not */
    void verify(String path, Files.Stat now) {
        Files.Stat then = seen.get(path);
        if (!elsewhere && then != null && !now.isSame(then)) {
            throw exchanged(path);
        }
    }

    private static RestoreException exchanged(String path) {
        return new RestoreException(RestoreException.Reason.FILE_CHANGED, path
                + " was replaced during the restart, by a program that can write to its directory:"
                + " end it, and restart again");
    }

    /**
     * Whether the file of that name is the one that the job had open.
     *
     * @throws RestoreException it is another one, of which nobody knows who put it there
     */
    void verify(OpenFile file, Files.Stat now) {
        String outside = views.outsideOf(file.id(), file.path());
        if (outside == null) {
            return; // it came with its file system
        }
        if (!elsewhere) {
            verified.requireSame(outside, now);
        }
        verify(outside, now);
        boolean known = otherUsers && !elsewhere && file.inode() != 0 && !putBack.contains(outside);
        if (known && (now.inode() != file.inode() || !sameDevice(now.device(), file.device()))) {
            throw new RestoreException(RestoreException.Reason.FILE_CHANGED, "file " + file.path()
                    + ", which the job has open, differs from the file at the checkpoint (inode " + now.inode()
                    + " now, " + file.inode() + " at the checkpoint), and root does not open it for a job with other "
                    + "users; if it is the right file, give its place: --map-path OLD=NEW");
        }
    }

    /** Whether it was looked at before, and has to be what it was then. */
    boolean verified(String path) {
        return !elsewhere && verified.holds(path);
    }

    /** File systems without a disk of their own (major number 0) get another number with each mount. */
    private static boolean sameDevice(long one, long other) {
        return one == other || (one >> 8 & 0xfff) == 0 || (other >> 8 & 0xfff) == 0;
    }

    private static RestoreException link(String path) {
        return new RestoreException(RestoreException.Reason.FILE_CHANGED, "file " + path
                + ", or a directory above it, has become a symbolic link, which is not"
                + " followed: restore it, or give its new place: --map-path OLD=NEW");
    }
}
