package org.udckpt.linux;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The way from "/" to a directory, one name after the other, each below the descriptor of the one before: what is
 * checked is what is gone through. A symbolic link is followed unless somebody else could have put it there: in a
 * directory that others than its owner write to, only the user's and root's are (as fs.protected_symlinks asks, but for
 * all directories).
 */
final class TrustedWalk {
    private static final int MOST_LINKS = 40; // path_resolution(7)
    private static final int WRITTEN_BY_OTHERS = 022;

    private final Trust trust;
    private final Deque<String> names = new ArrayDeque<>();
    private String path = "/";
    private int fd;
    private Files.Stat stat;
    private int links;

    private TrustedWalk(Trust trust) {
        this.trust = trust;
    }

    /**
     * A descriptor of the directory (O_PATH).
     *
     * @throws UntrustedPath naming the directory or link on the way that is not to be trusted
     */
    static int open(String path, Trust trust) {
        if (!path.startsWith("/")) {
            throw new IllegalArgumentException("not an absolute path: " + path);
        }
        TrustedWalk walk = new TrustedWalk(trust);
        walk.fd = Files.open("/", Syscall.O_PATH | Syscall.O_DIRECTORY);
        try {
            walk.go(path);
            return walk.fd;
        } catch (RuntimeException | Error e) {
            Files.close(walk.fd);
            throw e;
        }
    }

    private void go(String target) {
        arrived(Files.stat(fd));
        push(target);
        while (!names.isEmpty()) {
            String name = names.pop();
            if (!name.isEmpty() && !name.equals(".")) {
                step(name);
            }
        }
    }

    private void push(String target) {
        String[] parts = target.split("/");
        for (int i = parts.length - 1; i >= 0; i--) {
            names.push(parts[i]);
        }
    }

    private void step(String name) {
        // As a directory first, so that one that is mounted on demand is.
        long next = open(name, Syscall.O_PATH | Syscall.O_NOFOLLOW | Syscall.O_DIRECTORY);
        if (next == -LinuxError.ENOTDIR || next == -LinuxError.ELOOP) {
            follow(name);
            return;
        }
        int directory = (int) LinuxError.check(next, "open " + below(name));
        Files.close(fd);
        fd = directory;
        path = name.equals("..") ? path.substring(0, Math.max(1, path.lastIndexOf('/'))) : below(name);
        arrived(Files.stat(directory));
    }

    private void follow(String name) {
        int link = (int) LinuxError.check(open(name, Syscall.O_PATH | Syscall.O_NOFOLLOW), "open " + below(name));
        try {
            Files.Stat of = Files.stat(link);
            if (of.type() != Files.Stat.LINK) {
                throw new LinuxError("open " + below(name), LinuxError.ENOTDIR);
            }
            boolean others =
                    (stat.mode() & WRITTEN_BY_OTHERS) != 0 || trust != Trust.ANY && !User.isTrusted(stat.uid());
            if (others && !User.isTrusted(of.uid())) {
                throw new UntrustedPath("symbolic link " + below(name) + " was made by user " + of.uid()
                        + ", and is not followed; give the directory itself");
            }
            if (++links > MOST_LINKS) {
                throw new LinuxError("open " + below(name), LinuxError.ELOOP);
            }
            String target = Files.readLink(link);
            if (target.startsWith("/")) {
                restart();
            }
            push(target);
        } finally {
            Files.close(link);
        }
    }

    private void restart() {
        int root = Files.open("/", Syscall.O_PATH | Syscall.O_DIRECTORY);
        Files.close(fd);
        fd = root;
        path = "/";
        stat = Files.stat(root);
    }

    private void arrived(Files.Stat now) {
        stat = now;
        trust.check(path, now);
    }

    private long open(String name, int flags) {
        return Syscall.call(Syscall.OPENAT, fd, Scratch.string(name), flags | Syscall.O_CLOEXEC, 0);
    }

    private String below(String name) {
        return path.equals("/") ? "/" + name : path + "/" + name;
    }
}
