package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.AT_REMOVEDIR;
import static org.udckpt.linux.LinuxConstants.AT_SYMLINK_FOLLOW;
import static org.udckpt.linux.LinuxConstants.AT_SYMLINK_NOFOLLOW;
import static org.udckpt.linux.LinuxConstants.LOCK_EX;
import static org.udckpt.linux.LinuxConstants.LOCK_NB;
import static org.udckpt.linux.LinuxConstants.O_NOCTTY;
import static org.udckpt.linux.LinuxConstants.RESOLVE_BENEATH;
import static org.udckpt.linux.LinuxConstants.RESOLVE_NO_XDEV;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * An open directory, and what can be done with names in it. It was reached without following a symbolic link
 * (openat2(2), RESOLVE_NO_SYMLINKS), or only such as nobody else could have put there ({@link #reach}), and no call
 * here follows one or leaves the directory: whoever can write to it, or to one above, cannot send these calls
 * elsewhere.
 *
 * <p>What is done in a directory that others may write to is done through one of these, opened once: a path that is
 * used twice may lead to two files.
 */
public final class Folder implements AutoCloseable {
    private static final int MADE = Syscall.O_CREAT | Syscall.O_EXCL | Syscall.O_NOFOLLOW;
    private static final int WAY = Syscall.O_PATH | Syscall.O_DIRECTORY | Syscall.O_NOFOLLOW;
    private static final int OTHERS = 077, OTHERS_WRITE = 022, STICKY = 01000;

    private final String path;
    private final int fd;

    private Folder(String path, int fd) {
        this.path = path;
        this.fd = fd;
    }

    /** @throws LinuxError ELOOP when a symbolic link is on the way */
    public static Folder open(String path) {
        return open("", path);
    }

    /**
     * The same for whom another directory is "/".
     *
     * @param root /proc/PID/root, or "": this process's own
     * @param path absolute
     */
    public static Folder open(String root, String path) {
        return reach(root, path, Syscall.O_RDONLY);
    }

    private static Folder reach(String root, String path, int flags) {
        if (root.isEmpty()) {
            return new Folder(path,
                    (int) LinuxError.check(Openat2.tryOpen(AT_FDCWD, path, flags | Syscall.O_DIRECTORY, 0, 0),
                            "open " + path));
        }
        int top = Files.open(root, Syscall.O_PATH | Syscall.O_DIRECTORY);
        try {
            return new Folder(path,
                    (int) LinuxError.check(
                            Openat2.tryOpen(top, path.equals("/") ? "." : path.substring(1),
                                    flags | Syscall.O_DIRECTORY, 0, 0),
                            "open " + path));
        } finally {
            Files.close(top);
        }
    }

    /**
     * As {@link #open(String, String)}, without opening it (O_PATH): whoever watches it hears nothing. It cannot be
     * listed, nor what is made in it be made durable.
     */
    public static Folder hold(String root, String path) {
        return reach(root, path, Syscall.O_PATH);
    }

    public static Folder hold(String path) {
        return hold("", path);
    }

    /** A directory that is open already. @param fd it is closed with this */
    public static Folder of(String path, int fd) {
        return new Folder(path, fd);
    }

    /**
     * Opens a directory that a user has named, absolutely, and checks it and each directory above it. Symbolic links on
     * the way are followed, unless others could have put them there.
     *
     * @throws UntrustedPath naming what is not to be trusted
     */
    public static Folder reach(String path, Trust trust) {
        int way = TrustedWalk.open(path, trust);
        try {
            return new Folder(path, (int) LinuxError.check(Openat2.tryDirectory(way, ".", 0), "open " + path));
        } finally {
            Files.close(way);
        }
    }

    /** The directory {@code name} in this one. */
    public Folder sub(String name) {
        return sub(name, 0);
    }

    /** The same as {@link #hold(String)} does. */
    public Folder holdSub(String name) {
        return new Folder(below(name),
                (int) LinuxError.check(tryOpen(name, Syscall.O_PATH | Syscall.O_DIRECTORY, 0), "reach " + below(name)));
    }

    private Folder sub(String name, long resolve) {
        return new Folder(below(name),
                (int) LinuxError.check(Openat2.tryDirectory(fd, name, RESOLVE_BENEATH | resolve),
                        "open " + below(name)));
    }

    /**
     * Makes a directory that only this user can enter, whatever the umask, and opens it.
     *
     * @throws LinuxError    EEXIST when the name is taken
     * @throws UntrustedPath when somebody has exchanged it in the same moment
     */
    public Folder makeSub(String name) {
        return makeSub(name, 0700, 0);
    }

    /** The same, into which others may look as far as the umask lets them. */
    public Folder makeVisibleSub(String name) {
        return makeSub(name, 0755, 0055);
    }

    /** @param optional bits that the umask may take away */
    private Folder makeSub(String name, int mode, int optional) {
        makeDirectory(name, mode);
        int made = (int) LinuxError.check(tryOpen(name, WAY, 0), "open " + below(name));
        try {
            Files.Stat stat = Files.stat(made);
            int wanted = stat.mode() & optional | 0700;
            if (User.isTrusted(stat.uid()) && (stat.mode() & 0777) != wanted) {
                // by the umask, which may keep even its owner out, or an inherited access control list
                LinuxError.check(
                        Syscall.call(Syscall.FCHMODAT, AT_FDCWD, Scratch.string(Files.ofDescriptor(made)), wanted),
                        "chmod " + below(name));
                stat = Files.stat(made);
            }
            if (!User.isTrusted(stat.uid()) || (stat.mode() & 0777) != wanted) {
                throw new UntrustedPath("directory " + below(name) + " belongs to user " + stat.uid() + ", with mode "
                        + Integer.toOctalString(stat.mode() & 07777)
                        + ": it was replaced just after it was created, or its file system has no owners and modes; "
                        + "give another directory");
            }
            return behind(name, made);
        } finally {
            Files.close(made);
        }
    }

    /**
     * The directory {@code name}, which only this user can enter: made where it is not there, and its mode set,
     * whatever the umask is or was when it was made. Who made it is looked at, not what mkdir(2) said.
     *
     * @return null: the name is somebody else's, or no directory's
     */
    public Folder claimSub(String name) {
        long made = Syscall.call(Syscall.MKDIRAT, fd, Scratch.string(name), 0700);
        if (made != -LinuxError.EEXIST) {
            LinuxError.check(made, "make directory " + below(name));
        }
        int way = tryOwn(name);
        if (way < 0) {
            return null;
        }
        try {
            if ((Files.stat(way).mode() & 07777) != 0700) {
                LinuxError.check(
                        Syscall.call(Syscall.FCHMODAT, AT_FDCWD, Scratch.string(Files.ofDescriptor(way)), 0700),
                        "chmod " + below(name));
            }
            return behind(name, way);
        } finally {
            Files.close(way);
        }
    }

    /** The directory {@code name} if it is this user's, and nobody else's to write to; null: there is none such. */
    public Folder ownSub(String name) {
        int way = tryOwn(name);
        if (way < 0) {
            return null;
        }
        try {
            return (Files.stat(way).mode() & OTHERS_WRITE) != 0 ? null : behind(name, way);
        } finally {
            Files.close(way);
        }
    }

    /**
     * Only as a way (O_PATH), for which it need not be readable. -1: it is not there, no directory, or somebody else's.
     */
    private int tryOwn(String name) {
        long opened = tryOpen(name, WAY, 0);
        if (opened == -LinuxError.ENOENT || opened == -LinuxError.ENOTDIR || opened == -LinuxError.ELOOP) {
            return -1;
        }
        int way = (int) LinuxError.check(opened, "open " + below(name));
        if (Files.stat(way).uid() == User.id()) {
            return way;
        }
        Files.close(way);
        return -1;
    }

    private long tryOpen(String name, int flags, int mode) {
        return Openat2.tryOpen(fd, name, flags, mode, RESOLVE_BENEATH);
    }

    /** To be read and written in. @param way to it (O_PATH) */
    private Folder behind(String name, int way) {
        return new Folder(below(name),
                (int) LinuxError.check(Openat2.tryDirectory(way, ".", 0), "open " + below(name)));
    }

    /** @throws UntrustedPath unless it is this user's (or root's), and nobody else can enter it or write to it */
    public void requireOwn() {
        Files.Stat stat = stat();
        if (!User.isTrusted(stat.uid()) || (stat.mode() & OTHERS) != 0) {
            throw new UntrustedPath("directory " + path + " belongs to user " + stat.uid() + ", with mode "
                    + Integer.toOctalString(stat.mode() & 07777)
                    + ": other users have access to it; move it away, or give another directory");
        }
    }

    /** @throws UntrustedPath unless it is this user's (or root's), and nobody else can write to it */
    public void requireWriter() {
        Files.Stat stat = stat();
        if (!User.isTrusted(stat.uid()) || (stat.mode() & OTHERS_WRITE) != 0) {
            throw new UntrustedPath("directory " + path + " belongs to user " + stat.uid() + ", with mode "
                    + Integer.toOctalString(stat.mode() & 07777)
                    + ": other users can write to it, so udckpt does not use it; move it away");
        }
    }

    public String path() {
        return path;
    }

    /** The path of {@code name} in it. */
    public String below(String name) {
        return path.equals("/") ? "/" + name : path + "/" + name;
    }

    /** stat(2) of the directory itself. */
    public Files.Stat stat() {
        return Files.stat(fd);
    }

    /** lstat(2) of a name; null: there is none. */
    public Files.Stat stat(String name) {
        MemorySegment data = Scratch.data();
        long result = Syscall.call(Syscall.NEWFSTATAT, fd, Scratch.string(name), data.address(), AT_SYMLINK_NOFOLLOW);
        if (result == -LinuxError.ENOENT) {
            return null;
        }
        LinuxError.check(result, "stat " + below(name));
        return Files.stat(data);
    }

    /** A descriptor of a file that is no symbolic link. */
    public int openFile(String name, int flags) {
        return (int) LinuxError.check(tryOpenFile(name, flags), "open " + below(name));
    }

    /** The same, or {@code -errno}. A FIFO is not waited for. */
    public long tryOpenFile(String name, int flags) {
        return Syscall.call(Syscall.OPENAT, fd, Scratch.string(name),
                flags | Syscall.O_NOFOLLOW | Syscall.O_NONBLOCK | Syscall.O_CLOEXEC, 0600);
    }

    /**
     * Makes a file that is not there yet, for its owner only, whatever the umask.
     *
     * @param flags O_RDWR, O_WRONLY, ...
     * @throws LinuxError EEXIST when the name is taken
     */
    public int create(String name, int flags) {
        int file = (int) LinuxError.check(tryOpen(name, flags | MADE, 0600), "make " + below(name));
        if ((Files.stat(file).mode() & 0777) != 0600) {
            LinuxError.check(Syscall.call(Syscall.FCHMOD, file, 0600), "chmod " + below(name));
        }
        return file;
    }

    /** The same, which others may read as far as the umask lets them. */
    public int createVisible(String name, int flags) {
        return (int) LinuxError.check(tryOpen(name, flags | MADE, 0644), "make " + below(name));
    }

    /**
     * Opens a regular file. Neither waits for a FIFO nor touches a device.
     *
     * @throws LinuxError    ENOENT when it is not there
     * @throws NotRegularFile when it is something else, as a symbolic link
     */
    public int openRegular(String name, int flags) {
        long opened = tryOpen(name, flags | Syscall.O_NOFOLLOW | Syscall.O_NONBLOCK | O_NOCTTY, 0);
        if (opened == -LinuxError.ELOOP || opened == -LinuxError.ENXIO || opened == -LinuxError.ENODEV) {
            // a link; a socket or FIFO; a device
            throw new NotRegularFile(below(name));
        }
        int file = (int) LinuxError.check(opened, "open " + below(name));
        if (Files.stat(file).type() != Files.Stat.REGULAR) {
            Files.close(file);
            throw new NotRegularFile(below(name));
        }
        return file;
    }

    /** A file without a name, or {@code -errno}; EOPNOTSUPP, EISDIR: this file system has none. */
    public long tryNameless() {
        return Syscall.call(Syscall.OPENAT, fd, Scratch.string("."),
                Syscall.O_RDWR | Syscall.O_TMPFILE | Syscall.O_CLOEXEC, 0600);
    }

    /** Gives a nameless file its name, which must be free. */
    public void link(int file, String name) {
        LinuxError.check(Syscall.call(Syscall.LINKAT, AT_FDCWD, Scratch.string("/proc/self/fd/" + file), fd,
                Scratch.second(name), AT_SYMLINK_FOLLOW), "make " + below(name));
    }

    /** {@code name} becomes another name of {@code old} in {@code from}. */
    public void link(Folder from, String old, String name) {
        LinuxError.check(Syscall.call(Syscall.LINKAT, from.fd, Scratch.string(old), fd, Scratch.second(name), 0),
                "link " + below(name) + " to " + from.below(old));
    }

    public void symbolicLink(String target, String name) {
        LinuxError.check(Syscall.call(Syscall.SYMLINKAT, Scratch.string(target), fd, Scratch.second(name)),
                "make the symbolic link " + below(name));
    }

    /** What a symbolic link says. */
    public String readLink(String name) {
        MemorySegment data = Scratch.data();
        long n = LinuxError.check(Syscall.call(Syscall.READLINKAT, fd, Scratch.string(name), data.address(), 4096),
                "readlink " + below(name));
        return RawText.decode(data.asSlice(0, n).toArray(JAVA_BYTE));
    }

    public void makeDirectory(String name, int mode) {
        LinuxError.check(Syscall.call(Syscall.MKDIRAT, fd, Scratch.string(name), mode),
                "make directory " + below(name));
    }

    public void removeDirectory(String name) {
        LinuxError.check(Syscall.call(Syscall.UNLINKAT, fd, Scratch.string(name), AT_REMOVEDIR),
                "remove directory " + below(name));
    }

    public void unlink(String name) {
        LinuxError.check(Syscall.call(Syscall.UNLINKAT, fd, Scratch.string(name), 0), "remove " + below(name));
    }

    /**
     * Removes a name and all that is below it. What a symbolic link leads to stays, and so does what is mounted there.
     *
     * @throws LinuxError EXDEV naming where another file system begins
     */
    public void removeTree(String name) {
        TreeRemoval.remove(this, name);
    }

    /** A directory in it, unless something else is mounted there. */
    Folder subOfSameDevice(String name) {
        return sub(name, RESOLVE_NO_XDEV);
    }

    /** {@code to} becomes the name of {@code from}, in one step, whether there was one before or not. */
    public void replace(String from, String to) {
        LinuxError.check(Syscall.call(Syscall.RENAMEAT2, fd, Scratch.string(from), fd, Scratch.second(to), 0),
                "rename " + below(from) + " to " + to);
    }

    /** Makes its names durable. */
    public void sync() {
        LinuxError.check(Syscall.call(Syscall.FSYNC, fd), "fsync " + path);
    }

    /** False: {@code to} exists. Nothing is ever replaced. */
    public boolean rename(String from, String to) {
        return Renaming.rename(this, from, to);
    }

    /** Gives it another name in another directory of the same file system. False: that name exists. */
    public boolean move(String from, Folder into, String to) {
        return Renaming.move(this, from, into, to);
    }

    /** A FIFO, which nobody else can open yet. */
    public void makeFifo(String name) {
        LinuxError.check(Syscall.call(Syscall.MKNODAT, fd, Scratch.string(name), Files.Stat.FIFO | 0600, 0),
                "make FIFO " + below(name));
    }

    /** Permissions of a name in a directory that only this user can enter: a symbolic link would be followed. */
    public void mode(String name, int mode) {
        LinuxError.check(Syscall.call(Syscall.FCHMODAT, fd, Scratch.string(name), mode & 07777),
                "chmod " + below(name));
    }

    /** Owner of a symbolic link. */
    public void owner(String name, int uid, int gid) {
        LinuxError.check(Syscall.call(Syscall.FCHOWNAT, fd, Scratch.string(name), uid, gid, AT_SYMLINK_NOFOLLOW),
                "give " + below(name) + " to user " + uid);
    }

    /** Whether nobody but this user and root can give another name to what belongs to this user in it. */
    public boolean keepsNames() {
        Files.Stat stat = stat();
        return User.isTrusted(stat.uid()) && ((stat.mode() & STICKY) != 0 || (stat.mode() & OTHERS_WRITE) == 0);
    }

    /**
     * Whether this process has it locked now (flock(2), until it is closed): false where another has, and on file
     * systems that lock no directories.
     */
    public boolean tryLock() {
        return Syscall.call(Syscall.FLOCK, fd, LOCK_EX | LOCK_NB) == 0;
    }

    /** Its descriptor, which it keeps. */
    public int descriptor() {
        return fd;
    }

    /** All names in it but "." and "..", in the order of their characters. */
    public List<String> names() {
        return FolderNames.of(this);
    }

    @Override
    public void close() {
        Files.close(fd);
    }
}
