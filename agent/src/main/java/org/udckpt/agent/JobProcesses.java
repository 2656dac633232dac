package org.udckpt.agent;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;

/** The processes of a running job, as the kernel shows them at this moment. */
final class JobProcesses {
    /** proc_pid_stat(5), from field 3 (state) on. */
    private static final int STATE = 0, PARENT = 4 - 3;

    /** How many numbers there are up to the job's, by root. */
    private final Map<Integer, Integer> levels = new HashMap<>();
    private final List<JobProcess> found = new ArrayList<>();
    private final Set<Integer> seen = new HashSet<>();

    private JobProcesses() {}

    /**
     * Parents before their children; zombies and a checkpoint's snapshots are left out.
     *
     * @param roots of the job, as this process numbers them
     */
    static List<JobProcess> below(List<Integer> roots) {
        JobProcesses walk = new JobProcesses();
        Set<Integer> shepherds = new HashSet<>();
        for (int root : roots) {
            parent(root).ifPresent(shepherds::add);
            walk.add(root, root, 0);
        }
        for (int shepherd : shepherds) {
            for (int orphan : children(shepherd)) { // daemons
                if (!roots.contains(orphan) && !traced(orphan)) {
                    walk.add(orphan, roots.getFirst(), 0);
                }
            }
        }
        return walk.found;
    }

    private void add(int pid, int root, int parent) {
        if (!seen.add(pid)) {
            return;
        }
        try {
            if ("ZX".contains(Proc.stat(pid)[STATE])) {
                return;
            }
            String status = Proc.text("/proc/" + pid + "/status");
            if (!Proc.field(status, "TracerPid:").equals("0") && traced(pid)) {
                return; // a snapshot that is its process's child (ChildSnapshot)
            }
            String[] numbers = Proc.field(status, "NSpid:").split("\\s+");
            // in a pid namespace of the job's own it has further numbers
            int level = levels.computeIfAbsent(root,
                    one -> Proc.field(Proc.text("/proc/" + one + "/status"), "NSpid:").split("\\s+").length);
            found.add(new JobProcess(pid, Integer.parseInt(numbers[level - 1]), parent, root,
                    Proc.field(status, "Name:")));
        } catch (LinuxError gone) {
            return;
        }
        for (int child : children(pid)) {
            add(child, root, pid);
        }
    }

    private static Optional<Integer> parent(int pid) {
        try {
            return Optional.of(Integer.parseInt(Proc.stat(pid)[PARENT]));
        } catch (LinuxError gone) {
            return Optional.empty();
        }
    }

    private static int[] children(int pid) {
        try {
            return Proc.children(pid);
        } catch (LinuxError gone) {
            return new int[0];
        }
    }

    /** By this process: a snapshot. */
    private static boolean traced(int pid) {
        try {
            String tracer = Proc.field(Proc.text("/proc/" + pid + "/status"), "TracerPid:");
            return !tracer.equals("0") && Proc.numbers("/proc/self/task/" + tracer + "/fd").length > 0;
        } catch (LinuxError gone) {
            return true;
        }
    }
}
