package org.udckpt.process.capture;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;

/**
 * Whether a process has every right of this agent. One that has given some up (a worker of a root server that became
 * another user, a sandbox) can have changed any code in its own memory, and what its snapshot is given it has: so that
 * is given nothing of the agent's, neither the image's files nor the key of its tags. Who has its memory in common with
 * another process is refused ({@link SharingCheck}).
 */
final class AgentRights {
    /**
     * proc_pid_status(5). Without no_new_privs nobody but root can enter a seccomp filter or a Landlock domain, and no
     * file of /proc tells of the latter.
     */
    private static final String[] SAME = {"Uid:", "Gid:", "Groups:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:"};
    private static final String PERMITTED = "CapPrm:";
    private static final int CAP_SYS_RESOURCE = 24;
    private static final TaskStatus OWN = new TaskStatus(Proc.text("/proc/self/status"));
    private static final long OWN_CAPABILITIES = bits(OWN);
    private static final String OWN_LABEL = label("self");

    private AgentRights() {}

    /** Whether it may raise hard limits (CAP_SYS_RESOURCE). */
    static boolean mayRaiseLimits() {
        return (OWN_CAPABILITIES >>> CAP_SYS_RESOURCE & 1) != 0;
    }

    /** Null, or what the thread with this status lacks. */
    static String lost(int tid, TaskStatus status) {
        for (String field : SAME) {
            if (!OWN.agrees(field, status)) {
                return "thread " + tid + " has different rights than the agent (" + field + " " + status.field(field)
                        + ", not " + OWN.field(field) + ")";
            }
        }
        long missing = OWN_CAPABILITIES & ~bits(status);
        return missing == 0 ? null : "thread %d lacks capabilities of the agent (%s 0x%x)".formatted(tid, PERMITTED,
                missing);
    }

    /** The same of a process's security label ({@link #label(int)}), which all its threads have. */
    static String lost(String label) {
        return label.equals(OWN_LABEL) ? null : "its security label differs from the agent's (" + label + ", not "
                + OWN_LABEL + ")";
    }

    /** What a security module says of a process (SELinux, AppArmor, Smack). Empty: this system has none. */
    static String label(int pid) {
        return OWN_LABEL.isEmpty() ? "" : label(Integer.toString(pid));
    }

    private static String label(String process) {
        try {
            return Proc.text("/proc/" + process + "/attr/current").strip();
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.ENOENT || e.errno() == LinuxError.EINVAL
                    || e.errno() == LinuxError.EOPNOTSUPP) {
                return "";
            }
            throw e;
        }
    }

    private static long bits(TaskStatus status) {
        return Long.parseUnsignedLong(status.field(PERMITTED), 16);
    }
}
