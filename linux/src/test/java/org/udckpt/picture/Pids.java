package org.udckpt.picture;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;

/** The processes of a tree, with the numbers that they have for this process and for themselves. */
final class Pids {
    /** own number -> the number here, ascending */
    private final Map<Integer, Integer> hosts = new TreeMap<>();
    private final Map<Integer, Integer> own = new HashMap<>();

    Pids(Collection<Integer> hostPids) {
        Queue<Integer> next = new ArrayDeque<>(hostPids);
        for (Integer pid; (pid = next.poll()) != null;) {
            if (hosts.put(own(pid), pid) == null && !zombie(pid)) {
                for (int child : Proc.children(pid)) { // also one that has ended
                    next.add(child);
                }
            }
        }
    }

    /** A process without a thread that lives. */
    static boolean zombie(int pid) {
        return Proc.stat(pid)[0].equals("Z") && Proc.living(pid) == pid;
    }

    Collection<Integer> tree() {
        return hosts.values();
    }

    /**
     * The number that a process or thread knows itself by (NSpid of proc_pid_status(5)); of one that is not there,
     * "gone".
     */
    String name(int pid) {
        return pid == 0 ? "0" : own.containsKey(pid) || exists(pid) ? Integer.toString(own(pid)) : "gone";
    }

    private static boolean exists(int pid) {
        try {
            Proc.text("/proc/" + pid + "/status");
            return true;
        } catch (LinuxError gone) {
            return false;
        }
    }

    private int own(int pid) {
        return own.computeIfAbsent(pid, p -> last(Proc.field(Proc.text("/proc/" + p + "/status"), "NSpid:")));
    }

    static int last(String numbers) {
        String[] words = numbers.split("\\s+");
        return Integer.parseInt(words[words.length - 1]);
    }
}
