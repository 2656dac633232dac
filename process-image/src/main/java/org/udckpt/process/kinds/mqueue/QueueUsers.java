package org.udckpt.process.kinds.mqueue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.process.kinds.base.AskedProcess;

/**
 * Processes outside of the job that have message queues open, in an IPC namespace that others use, too. Root sees all
 * processes, others those of their user.
 */
final class QueueUsers {
    static final QueueUsers NONE = new QueueUsers();

    private final Map<FoundQueue.Key, Integer> users = new HashMap<>();

    private QueueUsers() {}

    /**
     * @param queues all that is looked for
     * @param job its processes here
     */
    QueueUsers(Set<FoundQueue.Key> queues, List<AskedProcess> job) {
        Set<Integer> own = job.stream().map(AskedProcess::pid).collect(Collectors.toSet());
        for (int pid : Proc.numbers("/proc")) {
            for (int fd : own.contains(pid) ? new int[0] : descriptors(pid)) {
                Files.Stat stat = Files.tryStat("/proc/" + pid + "/fd/" + fd);
                if (stat != null && queues.contains(FoundQueue.Key.of(stat))) {
                    users.putIfAbsent(FoundQueue.Key.of(stat), pid);
                }
            }
        }
    }

    private static int[] descriptors(int pid) {
        try {
            return Proc.descriptors(pid);
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.EACCES || e.errno() == LinuxError.EPERM || e.errno() == LinuxError.ESRCH) {
                return new int[0];
            }
            throw e;
        }
    }

    /** Null: none. */
    Integer of(FoundQueue queue) {
        return users.get(queue.key());
    }
}
