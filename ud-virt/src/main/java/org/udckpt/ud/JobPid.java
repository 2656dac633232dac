package org.udckpt.ud;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;

/** The number of a process in the pid namespace in which its job was started: the shepherd's. */
final class JobPid {
    private static final String SHEPHERD = "udckpt-shepherd";
    private static final int INIT = 1;

    private JobPid() {}

    /**
     * Its own number, unless it is in a pid namespace of the job's own.
     *
     * @param peer the process, as this process numbers it
     * @param own  as it numbers itself
     */
    static int of(int peer, int own) {
        try {
            String[] numbers = numbers(peer);
            if (numbers.length == 1) {
                return own;
            }
            for (int pid = peer; pid > INIT; pid = Integer.parseInt(Proc.field(status(pid), "PPid:"))) {
                if (Proc.text("/proc/" + pid + "/comm").strip().equals(SHEPHERD)) {
                    int level = numbers(pid).length;
                    return numbers.length > level ? Integer.parseInt(numbers[level - 1]) : own;
                }
            }
            return own;
        } catch (LinuxError ended) {
            return own;
        }
    }

    private static String[] numbers(int pid) {
        return Proc.field(status(pid), "NSpid:").split("\\s+");
    }

    private static String status(int pid) {
        return Proc.text("/proc/" + pid + "/status");
    }
}
