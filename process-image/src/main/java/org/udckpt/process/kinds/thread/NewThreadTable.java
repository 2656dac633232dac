package org.udckpt.process.kinds.thread;

import static org.udckpt.linux.LinuxConstants.CLONE_FILES;
import static org.udckpt.linux.LinuxConstants.F_DUPFD_CLOEXEC;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;

/** The table of descriptors of one thread, made from a copy of its process's. */
record NewThreadTable(RestoreScope scope, Maker process, int tid) {
    private static final long HIGHEST = 0xffff_ffffL;

    /** While all that the job has is open in the process, under numbers that the restart may choose. */
    void make(List<ThreadDescriptor> descriptors) {
        NavigableMap<Integer, ThreadDescriptor> table = new TreeMap<>();
        for (ThreadDescriptor one : descriptors) {
            if (table.put(one.fd(), one) != null) {
                throw scope.inconsistent("the image is inconsistent: thread " + tid + " has two descriptors "
                        + one.fd());
            }
        }
        Map<Long, Long> sources = new HashMap<>();
        table.values().forEach(one -> sources.computeIfAbsent(one.object(), object -> source(object, table)));
        process.callInThread(tid, "unshare(CLONE_FILES)", Syscall.UNSHARE, CLONE_FILES);
        long next = 0;
        for (ThreadDescriptor one : table.values()) {
            process.callInThread(tid, "descriptor " + one.fd() + " of thread " + tid, Syscall.DUP3,
                    sources.get(one.object()), one.fd(), one.closeOnExec() ? Syscall.O_CLOEXEC : 0);
        }
        for (int number : table.keySet()) {
            close(next, number - 1L);
            next = number + 1L;
        }
        close(next, HIGHEST);
    }

    /** A descriptor in the process that none of the thread's own numbers hides. */
    private long source(long object, Map<Integer, ThreadDescriptor> table) {
        long held = scope.made().in(process, object);
        return table.containsKey((int) held) ? process.call("dup", Syscall.FCNTL, held, F_DUPFD_CLOEXEC, 0) : held;
    }

    private void close(long first, long last) {
        if (first <= last) {
            process.callInThread(tid, "close what is the process's", Syscall.CLOSE_RANGE, first, last, 0);
        }
    }
}
