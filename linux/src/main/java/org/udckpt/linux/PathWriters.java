package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Finds files by their names, and tells who besides this user and root could have put something else there: each
 * directory of the way is opened below the one before it, and is looked at through its descriptor. Symbolic links are
 * followed, and whoever could have made them is told with the rest. Directories stay open until it is closed, so that
 * many files of few directories cost little.
 */
public final class PathWriters implements AutoCloseable {
    private static final int MOST_LINKS = 40; // path_resolution(7)
    private static final int STICKY = 01000;
    private static final long FUSE = 0x6573_5546;

    /** @param entries who could change what is in it, as far as that does not depend on what it is */
    private record Directory(String path, int fd, Files.Stat stat, Writers entries) {
        String below(String name) {
            return path.equals("/") ? "/" + name : path + "/" + name;
        }

        /** In a sticky directory, which others may write to, an entry's owner can exchange it (unlink(2)). */
        Writers of(String name, Files.Stat entry) {
            boolean shared = (stat.mode() & STICKY) != 0 && !Writers.byMode(path, stat).nobody();
            return shared && !User.isTrusted(entry.uid()) ? entries.with(Writers.user(entry.uid()), below(name))
                    : entries;
        }
    }

    private final Map<String, Directory> directories = new HashMap<>();

    public PathWriters() {
        int root = Files.open("/", Syscall.O_PATH | Syscall.O_DIRECTORY);
        directories.put("/", directory("/", root, Files.stat(root), Writers.NOBODY, -1));
    }

    /**
     * Finds the file at a path.
     *
     * @param path absolute
     * @throws LinuxError naming what is missing on the way
     */
    public FoundFile find(String path) {
        Deque<String> names = new ArrayDeque<>();
        push(names, path);
        Directory at = directories.get("/");
        Writers links = Writers.NOBODY;
        for (int followed = 0; !names.isEmpty();) {
            String name = names.pop();
            if (name.isEmpty() || name.equals(".")) {
                continue;
            }
            if (name.equals("..")) {
                at = directories.get(at.path.substring(0, Math.max(1, at.path.lastIndexOf('/'))));
                continue;
            }
            Directory known = directories.get(at.below(name));
            if (known != null) {
                at = known;
                continue;
            }
            int fd = (int) LinuxError.check(open(at, name, names.isEmpty()), "open " + at.below(name));
            boolean kept = false;
            try {
                Files.Stat stat = Files.stat(fd);
                if (stat.type() == Files.Stat.LINK) {
                    if (++followed > MOST_LINKS) {
                        throw new LinuxError("open " + at.below(name), LinuxError.ELOOP);
                    }
                    links = links.and(at.of(name, stat));
                    String target = Files.readLink(fd);
                    push(names, target);
                    at = target.startsWith("/") ? directories.get("/") : at;
                } else if (stat.type() == Files.Stat.DIRECTORY) {
                    at = directory(at.below(name), fd, stat, at.of(name, stat), at.stat.device());
                    directories.put(at.path, at);
                    kept = true;
                } else if (names.isEmpty()) {
                    kept = true;
                    Writers own = Writers.of(at.below(name), stat);
                    return new FoundFile(path, fd, stat, links.and(at.of(name, stat)).and(own)
                            .and(mounted(at.below(name), fd, stat, at.stat.device())), own);
                } else {
                    throw new LinuxError("open " + at.below(name), LinuxError.ENOTDIR);
                }
            } finally {
                if (!kept) {
                    Files.close(fd);
                }
            }
        }
        int again = Files.reopen(at.fd, Syscall.O_PATH | Syscall.O_DIRECTORY);
        return new FoundFile(path, again, at.stat, links.and(at.entries), Writers.of(at.path, at.stat));
    }

    /** Opens components on the way as directories first, so that an automount is mounted (open(2), O_PATH). */
    private static long open(Directory at, String name, boolean last) {
        int flags = Syscall.O_PATH | Syscall.O_NOFOLLOW | Syscall.O_CLOEXEC;
        long fd = last ? -LinuxError.ENOTDIR
                : Syscall.call(Syscall.OPENAT, at.fd, Scratch.string(name), flags | Syscall.O_DIRECTORY, 0);
        return fd == -LinuxError.ENOTDIR || fd == -LinuxError.ELOOP
                ? Syscall.call(Syscall.OPENAT, at.fd, Scratch.string(name), flags, 0) : fd;
    }

    private static void push(Deque<String> names, String path) {
        String[] parts = path.split("/");
        for (int i = parts.length - 1; i >= 0; i--) {
            names.push(parts[i]);
        }
    }

    private static Directory directory(String path, int fd, Files.Stat stat, Writers way, long deviceAbove) {
        Writers entries = way.and(mounted(path, fd, stat, deviceAbove));
        if (!User.isTrusted(stat.uid())) {
            entries = entries.with(Writers.user(stat.uid()), path);
        }
        return new Directory(path, fd, stat,
                (stat.mode() & STICKY) != 0 ? entries : entries.and(Writers.byMode(path, stat)));
    }

    /**
     * A file system of a process (FUSE): whoever mounted it says who owns what, and what is in it, differently each
     * time if he likes.
     */
    private static Writers mounted(String path, int fd, Files.Stat stat, long deviceAbove) {
        if (stat.device() == deviceAbove || Syscall.call(Syscall.FSTATFS, fd, Scratch.data().address()) < 0
                || Scratch.data().get(JAVA_LONG, 0) != FUSE) {
            return Writers.NOBODY;
        }
        int owner = Mounts.fuseOwner(stat.device());
        return owner == Mounts.UNKNOWN ? Writers.everybody(path)
                : User.isTrusted(owner) ? Writers.NOBODY : Writers.NOBODY.with(Writers.user(owner), path);
    }

    @Override
    public void close() {
        directories.values().forEach(directory -> Files.close(directory.fd));
        directories.clear();
    }
}
