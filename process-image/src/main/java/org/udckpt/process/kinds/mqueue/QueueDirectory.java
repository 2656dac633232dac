package org.udckpt.process.kinds.mqueue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.process.kinds.base.AskedProcess;
import org.udckpt.process.kinds.base.IpcGroup;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.StartTimes;

/**
 * Queues that no process of the job has open, and that have their names: where the file system of queues is mounted, as
 * distributions do. In an IPC namespace that others use those are the job's that a user of the job has made or used
 * while it ran and that nobody has open: they can only be the job's, or of one that nobody misses in a copy.
 */
final class QueueDirectory {
    private static final String DIRECTORY = "/dev/mqueue";
    /** By which the kernel's clocks may differ. */
    private static final int SLACK_S = 2;

    private QueueDirectory() {}

    /**
     * Those of one namespace.
     *
     * @param shared whether others use it, too
     * @param open those of the job, which are left out
     */
    static List<FoundQueue> unopened(IpcGroup group, boolean shared, Set<FoundQueue.Key> open) {
        AskedProcess process = group.caller();
        List<AskedProcess> job = group.job();
        if (group.queues() != null) {
            return all(group, open);
        }
        String directory = process.seen(DIRECTORY);
        List<FoundQueue> found = new ArrayList<>();
        if (!OpenDescriptor.isQueues(directory) || !shared && isMachines(directory)
                || !group.has(Files.stat(directory).device())) {
            return found;
        }
        List<String> names = names(process.mounts(), DIRECTORY);
        if (names.isEmpty()) {
            return found;
        }
        long start = job.stream().mapToLong(one -> StartTimes.of(one.pid())).min().orElseThrow() - SLACK_S;
        for (String name : names) {
            Files.Stat stat = Files.tryStat(directory + "/" + name);
            boolean foreign = stat == null || open.contains(FoundQueue.Key.of(stat))
                    || shared && (stat.changed() / 1_000_000_000L < start || !isOfUser(job, stat.uid()));
            if (!foreign) {
                found.add(FoundQueue.of(process, directory, name, stat));
            }
        }
        return found;
    }

    /** In a namespace that only the job has. */
    private static List<FoundQueue> all(IpcGroup group, Set<FoundQueue.Key> open) {
        List<FoundQueue> found = new ArrayList<>();
        for (String name : names(group.queues(), "/")) {
            Files.Stat stat = Files.stat(group.queues() + "/" + name);
            if (!open.contains(FoundQueue.Key.of(stat))) {
                found.add(FoundQueue.of(group.caller(), group.queues(), name, stat));
            }
        }
        return found;
    }

    /** A restarted job has a namespace of its own, but where it has nothing mounted it sees what was there before. */
    private static boolean isMachines(String directory) {
        Files.Stat here = Files.tryStat(DIRECTORY);
        return here != null && here.device() == Files.stat(directory).device();
    }

    private static List<String> names(String root, String directory) {
        try (Folder folder = Folder.open(root, directory)) {
            return folder.names();
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.EACCES) {
                return List.of();
            }
            throw e;
        }
    }

    private static boolean isOfUser(List<AskedProcess> job, int uid) {
        String wanted = Integer.toUnsignedString(uid);
        return job.stream().anyMatch(process -> Proc.field(Proc.whole("/proc/" + process.task() + "/status"), "Uid:")
                .split("\\s+")[1].equals(wanted));
    }
}
