package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * An open directory, and what can be done with names in it. It was reached without following a symbolic link (openat2(2),
 * RESOLVE_NO_SYMLINKS), or only such as nobody else could have put there ({@link #reach}), and no call here follows one or leaves
 * the directory: whoever can write to it, or to one above, cannot send these calls elsewhere.
 *
 * <p>What is done in a directory that others may write to is done through one of these, opened once: a path that is used twice may
 * lead to two files.
 */
public final class Folder implements AutoCloseable {
    private static final int AT_FDCWD = -100, AT_SYMLINK_NOFOLLOW = 0x100, AT_SYMLINK_FOLLOW = 0x400, AT_REMOVEDIR = 0x200;
    private static final int RENAME_NOREPLACE = 1, LOCK_EX = 2, LOCK_NB = 4;
    private static final long RESOLVE_NO_XDEV = 1, RESOLVE_NO_MAGICLINKS = 2, RESOLVE_NO_SYMLINKS = 4, RESOLVE_BENEATH = 8;
    private static final int NO_TERMINAL = 0400; // O_NOCTTY
    private static final int MADE = Syscall.O_CREAT | Syscall.O_EXCL;
    private static final int OTHERS = 077, OTHERS_WRITE = 022, STICKY = 01000;
    /** A tree that is deeper is nobody's who wants it removed: each level takes a descriptor. */
    private static final int DEEPEST = 100;
    private static final long PATHS = 8192; // in Scratch.data, where a second path goes

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
            return new Folder(path, (int) LinuxError.check(tryOpen(AT_FDCWD, path, flags | Syscall.O_DIRECTORY, 0, 0), "open " + path));
        }
        int top = Files.open(root, Syscall.O_PATH | Syscall.O_DIRECTORY);
        try {
            return new Folder(path, (int) LinuxError.check(tryOpen(top, path.equals("/") ? "." : path.substring(1), flags | Syscall.O_DIRECTORY, 0, 0), "open " + path));
        } finally {
            Files.close(top);
        }
    }

    /** As {@link #open(String, String)}, without opening it (O_PATH): whoever watches it hears nothing. It cannot be listed, nor what is made in it be made durable. */
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
     * Opens a directory that a user has named, absolutely, and checks it and each directory above it. Symbolic links on the way are followed, unless others could have put them there.
     *
     * @throws UntrustedPath naming what is not to be trusted
     */
    public static Folder reach(String path, Trust trust) {
        int way = TrustedWalk.open(path, trust);
        try {
            return new Folder(path, (int) LinuxError.check(tryOpen(way, ".", 0), "open " + path));
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
        return new Folder(below(name), (int) LinuxError.check(tryOpen(fd, name, Syscall.O_PATH | Syscall.O_DIRECTORY, 0, RESOLVE_BENEATH), "reach " + below(name)));
    }

    private Folder sub(String name, long resolve) {
        return new Folder(below(name), (int) LinuxError.check(tryOpen(fd, name, RESOLVE_BENEATH | resolve), "open " + below(name)));
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
        int made = (int) LinuxError.check(tryOpen(fd, name, Syscall.O_PATH | Syscall.O_DIRECTORY | Syscall.O_NOFOLLOW, 0, RESOLVE_BENEATH), "open " + below(name));
        try {
            Files.Stat stat = Files.stat(made);
            int wanted = stat.mode() & optional | 0700;
            if (User.isTrusted(stat.uid()) && (stat.mode() & 0777) != wanted) { // by the umask, which may keep even its owner out, or an inherited access control list
                LinuxError.check(Syscall.call(Syscall.FCHMODAT, AT_FDCWD, Scratch.string(Files.ofDescriptor(made)), wanted), "chmod " + below(name));
                stat = Files.stat(made);
            }
            if (!User.isTrusted(stat.uid()) || (stat.mode() & 0777) != wanted) {
                throw new UntrustedPath("directory " + below(name) + " belongs to user " + stat.uid() + ", with mode " + Integer.toOctalString(stat.mode() & 07777)
                        + ": somebody exchanged it when it was made, or its file system has neither owners nor modes; name another directory");
            }
            return new Folder(below(name), (int) LinuxError.check(tryOpen(made, ".", 0), "open " + below(name)));
        } finally {
            Files.close(made);
        }
    }

    /**
     * The directory {@code name}, which only this user can enter: made where it is not there, and its mode set, whatever the umask is or was when it was made. Who made it is looked at, not what mkdir(2) said.
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
                LinuxError.check(Syscall.call(Syscall.FCHMODAT, AT_FDCWD, Scratch.string(Files.ofDescriptor(way)), 0700), "chmod " + below(name));
            }
            return new Folder(below(name), (int) LinuxError.check(tryOpen(way, ".", 0), "open " + below(name)));
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
            return (Files.stat(way).mode() & OTHERS_WRITE) != 0 ? null : new Folder(below(name), (int) LinuxError.check(tryOpen(way, ".", 0), "open " + below(name)));
        } finally {
            Files.close(way);
        }
    }

    /** Only as a way (O_PATH), for which it need not be readable. -1: it is not there, no directory, or somebody else's. */
    private int tryOwn(String name) {
        long opened = tryOpen(fd, name, Syscall.O_PATH | Syscall.O_DIRECTORY | Syscall.O_NOFOLLOW, 0, RESOLVE_BENEATH);
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

    /** @throws UntrustedPath unless it is this user's (or root's), and nobody else can enter it or write to it */
    public void requireOwn() {
        Files.Stat stat = stat();
        if (!User.isTrusted(stat.uid()) || (stat.mode() & OTHERS) != 0) {
            throw new UntrustedPath("directory " + path + " belongs to user " + stat.uid() + ", with mode " + Integer.toOctalString(stat.mode() & 07777)
                    + ": it is not one that only you can use; move it away, or name another directory");
        }
    }

    /** @throws UntrustedPath unless it is this user's (or root's), and nobody else can write to it */
    public void requireWriter() {
        Files.Stat stat = stat();
        if (!User.isTrusted(stat.uid()) || (stat.mode() & OTHERS_WRITE) != 0) {
            throw new UntrustedPath("directory " + path + " belongs to user " + stat.uid() + ", with mode " + Integer.toOctalString(stat.mode() & 07777)
                    + ": it is not one that only you can write to, and nothing is written or removed there; move it away");
        }
    }

    private static long tryOpen(int directory, String path) {
        return tryOpen(directory, path, 0);
    }

    private static long tryOpen(int directory, String path, long resolve) {
        return tryOpen(directory, path, Syscall.O_RDONLY | Syscall.O_DIRECTORY, 0, resolve);
    }

    private static long tryOpen(int directory, String path, int flags, int mode, long resolve) {
        MemorySegment how = Scratch.data().asSlice(0, 24); // struct open_how
        how.set(JAVA_LONG, 0, flags | Syscall.O_CLOEXEC);
        how.set(JAVA_LONG, 8, mode);
        how.set(JAVA_LONG, 16, RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | resolve);
        return Syscall.call(Syscall.OPENAT2, directory, Scratch.string(path), how.address(), how.byteSize());
    }

    public String path() {
        return path;
    }

    /** The path of {@code name} in it. */
    public String below(String name) {
        return path.equals("/") ? "/" + name : path + "/" + name;
    }

    /** Of the directory itself. */
    public Files.Stat stat() {
        return Files.stat(fd);
    }

    /** Of the name, even if that is a symbolic link; null: there is none. */
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
        return Syscall.call(Syscall.OPENAT, fd, Scratch.string(name), flags | Syscall.O_NOFOLLOW | Syscall.O_NONBLOCK | Syscall.O_CLOEXEC, 0600);
    }

    /**
     * Makes a file that is not there yet, for its owner only, whatever the umask.
     *
     * @param flags O_RDWR, O_WRONLY, ...
     * @throws LinuxError EEXIST when the name is taken
     */
    public int create(String name, int flags) {
        int file = (int) LinuxError.check(tryOpen(fd, name, flags | MADE | Syscall.O_NOFOLLOW, 0600, RESOLVE_BENEATH), "make " + below(name));
        if ((Files.stat(file).mode() & 0777) != 0600) {
            LinuxError.check(Syscall.call(Syscall.FCHMOD, file, 0600), "chmod " + below(name));
        }
        return file;
    }

    /** The same, which others may read as far as the umask lets them. */
    public int createVisible(String name, int flags) {
        return (int) LinuxError.check(tryOpen(fd, name, flags | MADE | Syscall.O_NOFOLLOW, 0644, RESOLVE_BENEATH), "make " + below(name));
    }

    /**
     * Opens a regular file. Neither waits for a FIFO nor touches a device.
     *
     * @throws LinuxError    ENOENT when it is not there
     * @throws NotRegularFile when it is something else, as a symbolic link
     */
    public int openRegular(String name, int flags) {
        long opened = tryOpen(fd, name, flags | Syscall.O_NOFOLLOW | Syscall.O_NONBLOCK | NO_TERMINAL, 0, RESOLVE_BENEATH);
        if (opened == -LinuxError.ELOOP || opened == -LinuxError.ENXIO || opened == -LinuxError.ENODEV) { // a link; a socket or FIFO; a device
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
        return Syscall.call(Syscall.OPENAT, fd, Scratch.string("."), Syscall.O_RDWR | Syscall.O_TMPFILE | Syscall.O_CLOEXEC, 0600);
    }

    /** Gives a nameless file its name, which must be free. */
    public void link(int file, String name) {
        LinuxError.check(Syscall.call(Syscall.LINKAT, AT_FDCWD, Scratch.string("/proc/self/fd/" + file), fd, second(name), AT_SYMLINK_FOLLOW), "make " + below(name));
    }

    /** {@code name} becomes another name of {@code old} in {@code from}. */
    public void link(Folder from, String old, String name) {
        LinuxError.check(Syscall.call(Syscall.LINKAT, from.fd, Scratch.string(old), fd, second(name), 0), "link " + below(name) + " to " + from.below(old));
    }

    public void symbolicLink(String target, String name) {
        LinuxError.check(Syscall.call(Syscall.SYMLINKAT, Scratch.string(target), fd, second(name)), "make the symbolic link " + below(name));
    }

    /** What a symbolic link says. */
    public String readLink(String name) {
        MemorySegment data = Scratch.data();
        long n = LinuxError.check(Syscall.call(Syscall.READLINKAT, fd, Scratch.string(name), data.address(), 4096), "readlink " + below(name));
        return new String(data.asSlice(0, n).toArray(JAVA_BYTE), StandardCharsets.UTF_8);
    }

    public void makeDirectory(String name, int mode) {
        LinuxError.check(Syscall.call(Syscall.MKDIRAT, fd, Scratch.string(name), mode), "make directory " + below(name));
    }

    public void removeDirectory(String name) {
        LinuxError.check(Syscall.call(Syscall.UNLINKAT, fd, Scratch.string(name), AT_REMOVEDIR), "remove directory " + below(name));
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
        removeTree(name, DEEPEST);
    }

    private void removeTree(String name, int deeper) {
        Files.Stat stat = stat(name);
        if (stat == null) {
            return; // somebody else was first
        }
        if (stat.type() != Files.Stat.DIRECTORY) {
            unlink(name);
            return;
        }
        if (deeper == 0) {
            throw new LinuxError("remove " + below(name) + ": more than " + DEEPEST + " directories in each other", LinuxError.ELOOP);
        }
        try (Folder sub = sub(name, RESOLVE_NO_XDEV)) {
            for (String below : sub.names()) {
                sub.removeTree(below, deeper - 1);
            }
        }
        removeDirectory(name);
    }

    /** {@code to} becomes the name of {@code from}, in one step, whether there was one before or not. */
    public void replace(String from, String to) {
        LinuxError.check(Syscall.call(Syscall.RENAMEAT2, fd, Scratch.string(from), fd, second(to), 0), "rename " + below(from) + " to " + to);
    }

    /** Makes its names durable. */
    public void sync() {
        LinuxError.check(Syscall.call(Syscall.FSYNC, fd), "fsync " + path);
    }

    /** False: {@code to} exists. Nothing is ever replaced. */
    public boolean rename(String from, String to) {
        long result = Syscall.call(Syscall.RENAMEAT2, fd, Scratch.string(from), fd, second(to), RENAME_NOREPLACE);
        if (result == -LinuxError.EEXIST) {
            return false;
        }
        if (result == -LinuxError.EINVAL || result == -LinuxError.ENOSYS || result == -LinuxError.EOPNOTSUPP) {
            return renameWithoutFlag(from, to);
        }
        LinuxError.check(result, "rename " + below(from) + " to " + to);
        return true;
    }

    /** For file systems that know no RENAME_NOREPLACE (NFS): a second name never replaces one either, and a directory only an empty one. */
    private boolean renameWithoutFlag(String from, String to) {
        Files.Stat stat = stat(from);
        boolean directory = stat != null && stat.type() == Files.Stat.DIRECTORY;
        long linked = directory ? -LinuxError.EPERM : Syscall.call(Syscall.LINKAT, fd, Scratch.string(from), fd, second(to), 0);
        if (linked == -LinuxError.EEXIST || linked == -LinuxError.EPERM && stat(to) != null) {
            return false;
        }
        if (linked == 0) {
            unlink(from);
            return true;
        }
        if (linked != -LinuxError.EPERM) {
            LinuxError.check(linked, "rename " + below(from) + " to " + to);
        }
        LinuxError.check(Syscall.call(Syscall.RENAMEAT2, fd, Scratch.string(from), fd, second(to), 0), "rename " + below(from) + " to " + to);
        return true;
    }

    /**
     * Mode, time of modification and owner of an open file or directory, or of one that is only held (O_PATH).
     *
     * @param uid -1: it stays; {@code gid} too
     * @param modifiedNs since 1970; 0: it stays
     */
    public static void attributes(int file, String path, int uid, int gid, int mode, long modifiedNs) {
        String self = "/proc/self/fd/" + file; // O_PATH takes no fchmod(2)
        Files.Stat now = Files.stat(file);
        if (uid >= 0 && now.uid() != uid || gid >= 0 && now.gid() != gid) {
            LinuxError.check(Syscall.call(Syscall.FCHOWNAT, AT_FDCWD, Scratch.string(self), uid, gid, 0), "give " + path + " to user " + uid + ", group " + gid);
        }
        LinuxError.check(Syscall.call(Syscall.FCHMODAT, AT_FDCWD, Scratch.string(self), mode & 07777), "chmod " + path); // after the owner, which takes set-user-id away
        if (modifiedNs == 0) {
            return;
        }
        MemorySegment times = Scratch.data().asSlice(0, 32); // struct timespec[2]
        times.set(JAVA_LONG, 0, 0);
        times.set(JAVA_LONG, 8, 0x3ffffffeL); // UTIME_OMIT: the time of the last access stays
        times.set(JAVA_LONG, 16, Math.floorDiv(modifiedNs, 1_000_000_000L));
        times.set(JAVA_LONG, 24, Math.floorMod(modifiedNs, 1_000_000_000L));
        LinuxError.check(Syscall.call(Syscall.UTIMENSAT, AT_FDCWD, Scratch.string(self), times.address(), 0), "set the time of " + path);
    }

    /** Gives it another name in another directory of the same file system. False: that name exists. */
    public boolean move(String from, Folder into, String to) {
        long result = Syscall.call(Syscall.RENAMEAT2, fd, Scratch.string(from), into.fd, second(to), RENAME_NOREPLACE);
        if (result == -LinuxError.EINVAL || result == -LinuxError.ENOSYS || result == -LinuxError.EOPNOTSUPP) { // NFS: link(2) does not replace, either
            result = Syscall.call(Syscall.LINKAT, fd, Scratch.string(from), into.fd, second(to), 0);
            if (result == 0) {
                unlink(from);
            }
        }
        if (result == -LinuxError.EEXIST) {
            return false;
        }
        LinuxError.check(result, "move " + below(from) + " to " + into.below(to));
        return true;
    }

    /** A FIFO, which nobody else can open yet. */
    public void makeFifo(String name) {
        LinuxError.check(Syscall.call(Syscall.MKNODAT, fd, Scratch.string(name), Files.Stat.FIFO | 0600, 0), "make FIFO " + below(name));
    }

    /** Permissions of a name in a directory that only this user can enter: a symbolic link would be followed. */
    public void mode(String name, int mode) {
        LinuxError.check(Syscall.call(Syscall.FCHMODAT, fd, Scratch.string(name), mode & 07777), "chmod " + below(name));
    }

    /** Owner of a symbolic link. */
    public void owner(String name, int uid, int gid) {
        LinuxError.check(Syscall.call(Syscall.FCHOWNAT, fd, Scratch.string(name), uid, gid, AT_SYMLINK_NOFOLLOW), "give " + below(name) + " to user " + uid);
    }

    /** Whether nobody but this user and root can give another name to what belongs to this user in it. */
    public boolean keepsNames() {
        Files.Stat stat = stat();
        return User.isTrusted(stat.uid()) && ((stat.mode() & STICKY) != 0 || (stat.mode() & OTHERS_WRITE) == 0);
    }

    /** Whether this process has it locked now (flock(2), until it is closed): false where another has, and on file systems that lock no directories. */
    public boolean tryLock() {
        return Syscall.call(Syscall.FLOCK, fd, LOCK_EX | LOCK_NB) == 0;
    }

    /** Its descriptor, which it keeps. */
    public int descriptor() {
        return fd;
    }

    /** All names in it but "." and "..", in the order of their characters. */
    public List<String> names() {
        LinuxError.check(Syscall.call(Syscall.LSEEK, fd, 0, 0), "list " + path);
        MemorySegment data = Scratch.data();
        List<String> names = new ArrayList<>();
        for (long n; (n = LinuxError.check(Syscall.call(Syscall.GETDENTS64, fd, data.address(), Scratch.DATA_BYTES), "list " + path)) > 0; ) {
            for (long at = 0; at < n; at += data.get(JAVA_SHORT_UNALIGNED, at + 16) & 0xffff) { // struct linux_dirent64
                long end = at + 19;
                while (data.get(JAVA_BYTE, end) != 0) {
                    end++;
                }
                String name = new String(data.asSlice(at + 19, end - at - 19).toArray(JAVA_BYTE), StandardCharsets.UTF_8);
                if (!name.equals(".") && !name.equals("..")) {
                    names.add(name);
                }
            }
        }
        names.sort(null);
        return names;
    }

    /** A second text for a call that takes two. */
    private static long second(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        MemorySegment data = Scratch.data().asSlice(PATHS);
        MemorySegment.copy(bytes, 0, data, JAVA_BYTE, 0, bytes.length);
        data.set(JAVA_BYTE, bytes.length, (byte) 0);
        return data.address();
    }

    @Override
    public void close() {
        Files.close(fd);
    }
}
