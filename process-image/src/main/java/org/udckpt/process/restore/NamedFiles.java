package org.udckpt.process.restore;

import java.util.HashSet;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject.OpenFile;
import org.udckpt.process.model.KernelObject.SharedMemory;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.Privileges;

/**
 * Finds a job's files by their names. Where threads of the job were other users, root looks for files in directories that belong to those, who may
 * have put something else there: then no symbolic link is followed (at the checkpoint there was none on these paths), and a file is to be the one
 * that it was, unless its content was put back.
 */
final class NamedFiles {
    private static final int AT_FDCWD = -100, RESOLVE_NO_SYMLINKS = 4, OPEN_HOW_BYTES = 24, O_NOCTTY = 0400;

    private final boolean guarded;
    private final boolean elsewhere;
    private final VerifiedFiles verified;
    private final Set<String> putBack = new HashSet<>();

    /** @param covered other directories lie over the job's own ({@link PrivateFiles}), where files have other numbers */
    NamedFiles(JobImage image, boolean covered) {
        this(image, covered, VerifiedFiles.NONE);
    }

    /** @param verified what was found under some names already */
    NamedFiles(JobImage image, boolean covered, VerifiedFiles verified) {
        this.verified = verified;
        this.guarded = image.privileges().stream().anyMatch(Privileges.Credentials.class::isInstance);
        this.elsewhere = covered;
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

    /** In {@code maker}: a descriptor or {@code -errno}. */
    long tryOpen(Puppet maker, String path, int flags, int mode) {
        if (!guarded) {
            return maker.tryCall(Syscall.OPEN, maker.string(path), flags, mode);
        }
        // openat2(2) refuses what open(2) ignores.
        int exact = (flags & Syscall.O_PATH) == 0 ? flags : flags & (Syscall.O_PATH | Syscall.O_DIRECTORY | Syscall.O_NOFOLLOW | Syscall.O_CLOEXEC);
        boolean makes = (flags & Syscall.O_CREAT) != 0 || (flags & Syscall.O_TMPFILE) == Syscall.O_TMPFILE;
        long how = maker.structure().i64(Integer.toUnsignedLong(exact)).i64(makes ? mode : 0).i64(RESOLVE_NO_SYMLINKS).put();
        long fd = maker.tryCall(Syscall.OPENAT2, AT_FDCWD, maker.string(path), how, OPEN_HOW_BYTES);
        if (fd == -LinuxError.ELOOP) {
            throw link(path);
        }
        return fd;
    }

    /** What the job's {@code fd} in {@code maker} is. */
    static Files.Stat stat(Puppet maker, long fd) {
        return Files.stat("/proc/" + maker.hostPid() + "/fd/" + fd);
    }

    /**
     * @param root of the file system as the job sees it; "": as this process does
     * @throws LinuxError naming the path
     */
    Files.Stat stat(String root, String path) {
        if (!guarded || path.equals("/")) {
            return Files.stat(root + path);
        }
        try (Folder folder = folder(root, path)) {
            Files.Stat stat = folder.stat(name(path));
            if (stat == null) {
                throw new LinuxError("stat " + path, LinuxError.ENOENT);
            }
            if (stat.type() == Files.Stat.LINK) {
                throw link(path);
            }
            return stat;
        }
    }

    /** A descriptor of this process; {@code root} as with {@link #stat(String, String)}. */
    int open(String root, String path, int flags) {
        if (!guarded) {
            return Files.open(root + path, flags);
        }
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

    /**
     * Whether the file of that name is the one that the job had open.
     *
     * @throws RestoreException it is another one, of which nobody knows who put it there
     */
    void verify(OpenFile file, Files.Stat now) {
        if (!elsewhere) {
            verified.requireSame(file.path(), now);
        }
        boolean known = guarded && !elsewhere && file.inode() != 0 && !putBack.contains(file.path());
        if (known && (now.inode() != file.inode() || !sameDevice(now.device(), file.device()))) {
            throw new RestoreException(RestoreException.Reason.FILE_CHANGED, "file " + file.path() + ", which the job has open, is another one than at the checkpoint (inode " + now.inode()
                    + ", then " + file.inode() + "), which root does not open for a job with other users; if that is right, say where it is: --map-path OLD=NEW");
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
        return new RestoreException(RestoreException.Reason.FILE_CHANGED, "file " + path + ", or a directory above it, is a symbolic link now, which it was not at the checkpoint; root follows"
                + " none for a job with other users: put it back, or say where it is: --map-path OLD=NEW");
    }
}
