package org.udckpt.linux;

import static org.udckpt.linux.LinuxConstants.CLONE_FS;
import static org.udckpt.linux.LinuxConstants.CLONE_NEWNS;

import java.util.concurrent.SynchronousQueue;

/**
 * A thread of this process that is in the mount namespace of another process, and makes system calls there. Only these:
 * the virtual machine finds its classes by paths, which lead elsewhere there. What it opens is this process's.
 */
public final class MountThread implements AutoCloseable {
    private static final int UNSHARE = Syscall.UNSHARE, GETTID = Syscall.GETTID;

    private record Call(long number, long[] arguments) {}

    private final SynchronousQueue<Call> calls = new SynchronousQueue<>();
    private final SynchronousQueue<Long> results = new SynchronousQueue<>();
    /** Its directory in /proc, by which it is asked about what it sees. */
    private final int own;

    /** @throws LinuxError this process may not enter it */
    public MountThread(int pid) {
        this("/proc/" + pid + "/ns/mnt");
    }

    /** In the same namespace as another one. */
    public MountThread(MountThread other) {
        this(Files.ofDescriptor(other.own) + "/ns/mnt");
    }

    private MountThread(String file) {
        Thread.ofPlatform().daemon().name("udckpt-mounts").start(this::serve);
        try {
            own = Files.open("/proc/self/task/" + call(GETTID), Syscall.O_PATH | Syscall.O_DIRECTORY);
            int namespace = Files.open(file, Syscall.O_RDONLY);
            try { // a thread that shares its root directory with others cannot change it
                LinuxError.check(call(UNSHARE, CLONE_FS), "unshare(CLONE_FS)");
                LinuxError.check(call(Syscall.SETNS, namespace, CLONE_NEWNS), "enter a mount namespace");
            } finally {
                Files.close(namespace);
            }
        } catch (RuntimeException | Error e) {
            end();
            throw e;
        }
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

    /** The result, or {@code -errno}. Addresses are those of this process. */
    public long call(long number, long... arguments) {
        long[] six = new long[6];
        System.arraycopy(arguments, 0, six, 0, arguments.length);
        try {
            calls.put(new Call(number, six));
            return results.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** All mounts that can be reached from the namespace's root directory. */
    public java.util.List<MountLine> mounts() {
        return MountLine.parse(Proc.text(Files.ofDescriptor(own) + "/mountinfo"));
    }

    /** The namespace, open. */
    public int namespace() {
        return Files.open(Files.ofDescriptor(own) + "/ns/mnt", Syscall.O_RDONLY);
    }

    /** The namespace's own root directory, as a path of this process. */
    public String root() {
        return Files.ofDescriptor(own) + "/root";
    }

    private void end() {
        try {
            calls.put(new Call(-1, new long[6]));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        end();
        Files.close(own);
    }
}
