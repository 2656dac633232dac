package org.udckpt.process.capture;

import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.StoppedProcess;

/** A thread with a table of descriptors of its own (unshare(2), CLONE_FILES), in the place of its process. */
record ThreadTable(TracedProcess process, TracedThread thread) implements DelegatedProcess {
    /** The process that a descriptor is in, also if it is in the table of one of its threads; null: it is in none. */
    static TracedProcess of(StoppedProcess process) {
        return switch (process) {
            case TracedProcess whole -> whole;
            case ThreadTable part -> part.process;
            default -> null;
        };
    }

    /** Before Linux 6.9 nobody can ask for what a thread alone has (pidfd_open(2), PIDFD_THREAD). */
    static void refuseUnknown(TracedProcess process) {
        if (process.ownTables().isEmpty()) {
            return;
        }
        TracedThread thread = process.ownTables().getFirst();
        try {
            new ProcessHandleFd(thread.tid).close();
        } catch (LinuxError unknown) {
            throw process.refuse("thread " + thread.tid + " has descriptors of its own (unshare(2) with CLONE_FILES): "
                    + "to checkpoint that needs Linux 6.9");
        }
    }

    @Override
    public int task() {
        return thread.tid;
    }

    /** What only this table has is made in the process by a restart, as what is in flight is. */
    @Override
    public boolean inFlight() {
        return true;
    }

    @Override
    public int[] ownedDescriptors() {
        return new int[0];
    }

    @Override
    public RuntimeException refuse(int descriptor, String reason) {
        return process.refuse(of(descriptor) + reason);
    }

    @Override
    public RuntimeException failed(int descriptor, String reason) {
        return process.failed(of(descriptor) + reason);
    }

    private String of(int descriptor) {
        return "descriptor " + descriptor + " of thread " + thread.tid + ", which has descriptors of its own: ";
    }

    /** The process's own lock is another one: this is by its table (fcntl(2), F_SETLK). */
    static void refuseLock(OpenDescriptor open) {
        if (open.info().lines().anyMatch(line -> line.startsWith("lock:") && line.contains("POSIX"))) {
            throw open.refuse("a lock on " + open.link() + " (fcntl(2), F_SETLK) of a thread alone cannot be "
                    + "checkpointed; release it first");
        }
    }

    /** Threads whose tables another thread or process has, too: a restart gives each to its thread alone. */
    static void refuseShared(List<TracedProcess> processes) {
        for (TracedProcess process : processes) {
            for (TracedThread thread : process.ownTables()) {
                for (TracedProcess other : processes) {
                    refuseShared(process, thread, other.task());
                    other.ownTables().stream().filter(one -> one != thread)
                            .forEach(one -> refuseShared(process, thread, one.tid));
                }
            }
        }
    }

    private static void refuseShared(TracedProcess process, TracedThread thread, int other) {
        if (SharingCheck.shareDescriptors(thread.tid, other)) {
            throw process.refuse("thread " + thread.tid + " has one table of descriptors with " + other + ", and "
                    + "another one than its process (unshare(2) with CLONE_FILES), which cannot be checkpointed");
        }
    }
}
