package org.udckpt.process.model;

/** What an {@link Attribute} can be. The label is the name in images, and does not change. */
public enum AttributeKind {
    /** prctl(2), PR_SET_MDWE: no memory becomes executable that was not. */
    DENY_WRITE_EXECUTE("mdwe", 1),
    /** PR_SET_MEMORY_MERGE: all memory is for KSM. */
    MEMORY_MERGE("memory-merge", 1),
    /**
     * PR_SET_THP_DISABLE with flags, as PR_GET_THP_DISABLE tells them: 3, none but where MADV_HUGEPAGE asks for them.
     */
    HUGE_PAGES_DISABLED("thp-disable", 1),
    /** mlockall(2): MCL_FUTURE (2), with MCL_ONFAULT (4) or not. */
    LOCK_FUTURE("mlock-future", 1),
    /** /proc/PID/coredump_filter. */
    CORE_FILTER("coredump-filter", 1),
    /** PR_MCE_KILL: PR_MCE_KILL_LATE or _EARLY. */
    MACHINE_CHECK("mce-kill", 1),
    /** PR_SET_IO_FLUSHER. */
    IO_FLUSHER("io-flusher", 1),
    /** PR_SET_TSC: PR_TSC_SIGSEGV (2). */
    TIME_STAMP_COUNTER("tsc", 1),
    /** arch_prctl(2), ARCH_SET_CPUID: 0, the instruction faults. */
    CPUID("cpuid", 1),
    /** PR_SET_SPECULATION_CTRL of PR_SPEC_STORE_BYPASS. */
    STORE_BYPASS("speculative-store-bypass", 1),
    /** PR_SET_SPECULATION_CTRL of PR_SPEC_INDIRECT_BRANCH. */
    INDIRECT_BRANCH("speculative-indirect-branch", 1),
    /** set_mempolicy(2), mbind(2): the mode with its flags, then the nodes, a bit for each. */
    MEMORY_POLICY("memory-policy", 17),
    /**
     * Of a child that has ended and was not waited for ({@link Zombie}): its pid, and its real user where that is not
     * root, as waitid(2) tells it.
     */
    ENDED_CHILD("ended-child-user", 2),
    /**
     * Of the job's first process: what getppid(2) tells it, and the job's orphans: the number of the shepherd, where
     * that is not pid 1.
     */
    PARENT("parent", 1),
    /**
     * Of a process with a descriptor of a socket or a pipe: the object's id, and the user and group who have made it
     * (fstat(2)), where those are not root.
     */
    OBJECT_OWNER("object-owner", 3),
    /** {@link PeerCredentials} of a unix socket, for a process with a descriptor of it. */
    PEER_CREDENTIALS("peer-credentials", PeerCredentials.MOST_VALUES),
    /**
     * Of a process with a descriptor of a TCP socket: the object's id, and the error that the socket has to tell next
     * (SO_ERROR, socket(7)), as errno(3) has it.
     */
    SOCKET_ERROR("socket-error", 2),
    /**
     * Of a process with a descriptor of a TCP socket that is not connected any more: the object's id. The socket still
     * tells the port that it had (getsockname(2)), and does not hold it.
     */
    RELEASED_PORT("released-port", 1),
    /**
     * Of a process with a descriptor of a TCP socket that is not connected: the object's id. It calls its remote
     * address, and nobody has answered yet.
     */
    CALLING("calling", 1),
    /** /proc/PID/loginuid, if it differs from the agent's. */
    LOGIN_USER("loginuid", 1),
    /** By which a stopped process was stopped, where it is not SIGSTOP: what wait(2) tells its parent. */
    STOP_SIGNAL("stop-signal", 1),
    /** Its table of descriptors is that of its parent, whose pid this is (clone(2), CLONE_FILES). */
    SHARED_DESCRIPTORS("shared-descriptors", 1),
    /** Of a thread: it has a table of descriptors of its own (unshare(2), CLONE_FILES), that of its rows alone. */
    OWN_DESCRIPTORS("own-descriptors", 1),
    /** Its root, working directory and umask are those of its parent, whose pid this is (CLONE_FS). */
    SHARED_DIRECTORIES("shared-directories", 1),
    /** Its memory is that of its parent, whose pid this is (CLONE_VM): it has no regions, and nothing in the image. */
    SHARED_MEMORY("shared-memory", 1),
    /** So are its signal handlers (CLONE_SIGHAND). */
    SHARED_HANDLERS("shared-handlers", 1),
    /** Its main thread has ended with this exit code, while others run (pthread_exit(3) in main). */
    MAIN_ENDED("main-thread-ended", 1),
    /** Of a thread: a timer of the process runs by its CPU time ({@link PosixTimer}), and does not signal just it. */
    TIMER_CLOCK("timer-clock", 1);

    private final String label;
    private final int mostValues;

    AttributeKind(String label, int mostValues) {
        this.label = label;
        this.mostValues = mostValues;
    }

    public String label() {
        return label;
    }

    /** How many values one may have; it has one at least. */
    public int mostValues() {
        return mostValues;
    }

    /** Null: there is none. */
    public static AttributeKind named(String label) {
        for (AttributeKind kind : values()) {
            if (kind.label.equals(label)) {
                return kind;
            }
        }
        return null;
    }
}
