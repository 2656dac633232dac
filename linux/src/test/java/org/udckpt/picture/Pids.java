package org.udckpt.picture;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
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

    /** How many pid namespaces there are from this process's to the job's. */
    private final int level;

    Pids(Collection<Integer> hostPids) {
        level = hostPids.stream().mapToInt(pid -> numbers(pid).length).min().orElse(1);
        Queue<Integer> next = new ArrayDeque<>(hostPids);
        for (Integer pid; (pid = next.poll()) != null;) {
            if (hosts.put(own(pid), pid) == null && !zombie(pid)) {
                next.addAll(children(pid)); // also those that have ended
            }
        }
    }

    /** Without a snapshot that a checkpoint has there for a moment (ChildSnapshot). */
    static List<Integer> children(int pid) {
        return Arrays.stream(Proc.children(pid)).filter(child -> !Proc.text("/proc/" + child + "/comm").strip()
                .equals("udckpt-snapshot")).boxed().toList();
    }

    /** A process without a thread that lives. */
    static boolean zombie(int pid) {
        return Proc.stat(pid)[0].equals("Z") && Proc.living(pid) == pid;
    }

    Collection<Integer> tree() {
        return hosts.values();
    }

    /**
     * The number by which the job knows a process or thread (NSpid of proc_pid_status(5)); of one that is not there,
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
        return own.computeIfAbsent(pid, p -> Integer.parseInt(numbers(p)[level - 1]));
    }

    private static String[] numbers(int pid) {
        return Proc.field(Proc.text("/proc/" + pid + "/status"), "NSpid:").split("\\s+");
    }

    /** By which it knows itself: in a pid namespace of the job's own, that is another number. */

    static int last(String numbers) {
        String[] words = numbers.split("\\s+");
        return Integer.parseInt(words[words.length - 1]);
    }
}
