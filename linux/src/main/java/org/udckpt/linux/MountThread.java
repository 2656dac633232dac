package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.AT_SYMLINK_NOFOLLOW;
import static org.udckpt.linux.LinuxConstants.CLONE_FS;
import static org.udckpt.linux.LinuxConstants.CLONE_NEWNS;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.SynchronousQueue;

/**
 * A thread of this process that is in the mount namespace of another process, and makes system calls there. Only these:
 * the virtual machine finds its classes by paths, which lead elsewhere there. What it opens is this process's. Where
 * another user namespace owns the mounts, in which alone they can be moved, it is a process that shares memory and
 * descriptors with this one.
 */
public final class MountThread implements AutoCloseable {
    private static final int UNSHARE = Syscall.UNSHARE, GETTID = Syscall.GETTID;

    /** Who makes the calls. */
    private interface Caller extends AutoCloseable {
        long call(long number, long[] arguments);

        /** In /proc. */
        String directory();

        /** Its mount namespace, open. @param own its directory in /proc */
        int namespace(int own);

        /** Its namespace's root directory, as a path of this process. @param own its directory in /proc */
        String root(int own);

        @Override
        void close();
    }

    private final Caller caller;
    /** {@link #users(int)} */
    private final int[] users;
    /** Its directory in /proc, by which it is asked about what it sees. */
    private final int own;

    /** @throws LinuxError this process may not enter it */
    public MountThread(int pid) {
        this(Namespace.of(pid, "mnt"), users(pid));
    }

    /** In the same namespace as another one. */
    public MountThread(MountThread other) {
        this(new Namespace(other.namespace()), other.users);
    }

    /** A user and a group for whom a process's user namespace has numbers; null: not needed. */
    private static int[] users(int pid) {
        return User.id() != 0 ? null : new int[]{first(pid, "uid_map"), first(pid, "gid_map")};
    }

    /** As this process numbers it. 0 where nobody has a number. */
    private static int first(int pid, String map) {
        String[] words = Proc.text("/proc/" + pid + "/" + map).strip().split("\\s+");
        return words.length < 2 ? 0 : Integer.parseUnsignedInt(words[1]);
    }

    private MountThread(Namespace entered, int[] users) {
        this.users = users;
        try (Namespace namespace = entered; Namespace user = Namespace.ownerElsewhere(namespace.descriptor())) {
            caller = user == null ? new InThread() : new InProcess(user, users);
            int directory = -1;
            try {
                directory = Files.open(caller.directory(), Syscall.O_PATH | Syscall.O_DIRECTORY);
                if (user == null) { // a thread that shares its root directory with others cannot change it
                    LinuxError.check(call(UNSHARE, CLONE_FS), "unshare(CLONE_FS)");
                }
                if (User.id() == 0
                        || !Files.stat(namespace.descriptor()).isSame(Files.stat("/proc/self/ns/mnt"))) {
                    LinuxError.check(call(Syscall.SETNS, namespace.descriptor(), CLONE_NEWNS),
                            "enter a mount namespace");
                }
            } catch (RuntimeException | Error e) {
                caller.close();
                if (directory >= 0) {
                    Files.close(directory);
                }
                throw e;
            }
            own = directory;
        }
    }

    /** Where libudckpt-agent.so is, which a job with user namespaces of its own takes. */
    public static void library(Path agentLibrary) {
        CallingProcess.library(agentLibrary);
    }

    private static final class InThread implements Caller {
        private record Call(long number, long[] arguments) {}

        private final SynchronousQueue<Call> calls = new SynchronousQueue<>();
        private final SynchronousQueue<Long> results = new SynchronousQueue<>();

        InThread() {
            Thread.ofPlatform().daemon().name("udckpt-mounts").start(this::serve);
        }

        private void serve() {
            try {
                for (Call call; (call = calls.take()).number >= 0;) {
                    long[] a = call.arguments;
                    results.put(Syscall.call(call.number, a[0], a[1], a[2], a[3], a[4], a[5]));
                }
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public long call(long number, long[] arguments) {
            try {
                calls.put(new Call(number, arguments));
                return results.take();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }

        @Override
        public String directory() {
            return "/proc/self/task/" + call(GETTID, new long[6]);
        }

        @Override
        public int namespace(int own) {
            return Files.open(Files.ofDescriptor(own) + "/ns/mnt", Syscall.O_RDONLY);
        }

        @Override
        public String root(int own) {
            return Files.ofDescriptor(own) + "/root";
        }

        @Override
        public void close() {
            try {
                calls.put(new Call(-1, new long[6]));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static final class InProcess implements Caller {
        private final CallingProcess process = new CallingProcess();
        private int root = -1;

        InProcess(Namespace user, int[] users) {
            try {
                if (users != null && (users[0] != 0 || users[1] != 0)) {
                    process.makeFilesAs(users[0], users[1]);
                }
                process.enter(user.descriptor());
            } catch (RuntimeException | Error e) {
                process.close();
                throw e;
            }
        }

        @Override
        public long call(long number, long[] arguments) {
            return process.call(number, arguments);
        }

        @Override
        public String directory() {
            return "/proc/" + process.pid();
        }

        /** By itself: it may not be looked at from outside. */
        @Override
        public int namespace(int own) {
            return open(own, "ns/mnt", Syscall.O_RDONLY);
        }

        @Override
        public synchronized String root(int own) {
            if (root < 0) {
                root = open(own, "/", Syscall.O_PATH | Syscall.O_DIRECTORY);
            }
            return Files.ofDescriptor(root);
        }

        private int open(int directory, String path, int flags) {
            return (int) LinuxError.check(process.call(Syscall.OPENAT, new long[]{directory, Scratch.string(path),
                    flags | Syscall.O_CLOEXEC, 0, 0, 0}), "open " + path);
        }

        @Override
        public void close() {
            process.close();
            if (root >= 0) {
                Files.close(root);
            }
        }
    }

    /** The result, or {@code -errno}. Addresses are those of this process. */
    public long call(long number, long... arguments) {
        long[] six = new long[6];
        System.arraycopy(arguments, 0, six, 0, arguments.length);
        return caller.call(number, six);
    }

    /** lstat(2), by it. */
    public Files.Stat linkStat(String path) {
        MemorySegment data = Scratch.data();
        LinuxError.check(call(Syscall.NEWFSTATAT, AT_FDCWD, Scratch.string(path), data.address(), AT_SYMLINK_NOFOLLOW),
                "stat ", path);
        return Files.stat(data);
    }

    /** The target of a symbolic link, by it. */
    public String linkTarget(String path) {
        MemorySegment data = Scratch.data();
        long length = LinuxError.check(call(Syscall.READLINK, Scratch.string(path), data.address(), 4096),
                "readlink " + path);
        return RawText.decode(data.asSlice(0, length).toArray(JAVA_BYTE));
    }

    /** All mounts that can be reached from the namespace's root directory. */
    public List<MountLine> mounts() {
        return MountLine.parse(Proc.text(Files.ofDescriptor(own) + "/mountinfo"));
    }

    /** The namespace, open. */
    public int namespace() {
        return caller.namespace(own);
    }

    /** The namespace's own root directory, as a path of this process. */
    public String root() {
        return caller.root(own);
    }

    @Override
    public void close() {
        caller.close();
        Files.close(own);
    }
}
