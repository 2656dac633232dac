package org.udckpt.process.capture;

import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;

/**
 * Whether a process has every right of this agent. One that has given some up (a worker of a root server that became another user, a
 * sandbox) can have changed any code in its own memory, and what its snapshot is given it has: so that is given nothing of the agent's,
 * neither the image's files nor the key of its tags.
 */
final class AgentRights {
    /** proc_pid_status(5). Without no_new_privs nobody but root can enter a seccomp filter or a Landlock domain, and no file of /proc tells of the latter. */
    private static final String[] SAME = {"Uid:", "Gid:", "Groups:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:"};
    private static final String PERMITTED = "CapPrm:";
    private static final String OWN = Proc.text("/proc/self/status");
    private static final String OWN_LABEL = label("self");
    private static final int KCMP_VM = 1;

    private AgentRights() {}

    /** Null, or what the thread with this status lacks. */
    static String lost(int tid, String status) {
        for (String field : SAME) {
            String own = Proc.field(OWN, field);
            String theirs = Proc.field(status, field);
            if (own != null && !own.equals(theirs)) {
                return "thread " + tid + " has other rights than the agent (" + field + " " + theirs + ", not " + own + ")";
            }
        }
        long missing = bits(OWN) & ~bits(status);
        return missing == 0 ? null : "thread %d has not all capabilities of the agent (%s 0x%x are missing)".formatted(tid, PERMITTED, missing);
    }

    /** The same of a process's security label (SELinux, AppArmor), which all its threads have. */
    static String lost(int pid) {
        String label = label(Integer.toString(pid));
        return label.equals(OWN_LABEL) ? null : "it has another security label than the agent (" + label + ", not " + OWN_LABEL + ")";
    }

    /** Empty: this system has no such module. */
    private static String label(String process) {
        try {
            return Proc.text("/proc/" + process + "/attr/current").strip();
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.ENOENT || e.errno() == LinuxError.EINVAL || e.errno() == LinuxError.EOPNOTSUPP) {
                return "";
            }
            throw e;
        }
    }

    private static long bits(String status) {
        return Long.parseUnsignedLong(Proc.field(status, PERMITTED), 16);
    }

    /** Who has its memory in common with one that lost rights is no better than that. {@code processes}: all of the job here. */
    static void spread(List<TracedProcess> processes) {
        for (TracedProcess worse : processes.stream().filter(process -> process.lostRights != null).toList()) {
            for (TracedProcess other : processes) {
                if (other.lostRights == null && LinuxError.check(Syscall.call(Syscall.KCMP, worse.pid, other.pid, KCMP_VM, 0, 0), "kcmp of " + worse.pid + " and " + other.pid) == 0) {
                    other.lostRights = "it shares its memory with process " + worse.pid + ", of which: " + worse.lostRights;
                }
            }
        }
    }
}
