package org.udckpt.process.restore;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Struct;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.JobImage;

/** Gives a process and its threads the attributes of the image: docs/internals/attributes.md. */
final class KernelAttributes {
    private static final int MBIND = 237, SET_MEMPOLICY = 238, MLOCKALL = 151, ARCH_SET_CPUID = 0x1012;
    private static final int PR_SET_TSC = 26, PR_MCE_KILL = 33, PR_MCE_KILL_SET = 1, PR_SET_SPECULATION_CTRL = 53,
            PR_SET_IO_FLUSHER = 57, PR_SET_MDWE = 65, PR_SET_MEMORY_MERGE = 67;
    private static final int STORE_BYPASS = 0, INDIRECT_BRANCH = 1;
    /** Words of a set of NUMA nodes. */
    private static final int NODE_WORDS = 16;

    private final Tracee tracee;
    private final List<Attribute> attributes;

    /** @param attributes of this process */
    KernelAttributes(Tracee tracee, List<Attribute> attributes) {
        this.tracee = tracee;
        this.attributes = attributes;
    }

    /** Before anything is made: what a newer version has kept, this one would lose. */
    static void refuseUnknown(JobImage image, Owners owners) {
        for (Attribute attribute : image.attributes()) {
            if (attribute.kind() == null) {
                throw owners.of(attribute.pid()).unsupported("the image has an attribute of it, '" + attribute.name()
                        + "', that this version of udckpt does not know; restart it with the version that made the "
                        + "image");
            }
        }
    }

    /** Where memory is to come from, before it comes: when it is mapped. */
    void placeMemory() {
        for (Attribute attribute : attributes) {
            if (attribute.kind() == AttributeKind.MEMORY_POLICY && attribute.end() != 0) {
                long length = attribute.end() - attribute.start();
                place(tracee.tryCall(MBIND, attribute.start(), length, attribute.values()[0], nodes(attribute),
                        NODE_WORDS * Long.SIZE + 1, 0), "memory at 0x" + Long.toHexString(attribute.start()));
            }
        }
    }

    /** Restores attributes of the threads, while they still have root's rights. */
    void giveThreads(Threads threads) {
        for (Attribute attribute : attributes) {
            for (Threads.Place thread : threads.places()) {
                if (attribute.tid() == 0 || attribute.tid() == thread.tid()) {
                    give(attribute, thread.hostTid());
                }
            }
        }
    }

    private void give(Attribute attribute, int tid) {
        long value = attribute.values()[0];
        switch (attribute.kind()) {
            case MACHINE_CHECK -> tracee.callIn(tid, "PR_MCE_KILL", Syscall.PRCTL, PR_MCE_KILL, PR_MCE_KILL_SET, value,
                    0, 0);
            case IO_FLUSHER -> tracee.callIn(tid, "PR_SET_IO_FLUSHER", Syscall.PRCTL, PR_SET_IO_FLUSHER, value, 0, 0,
                    0);
            case TIME_STAMP_COUNTER -> tracee.callIn(tid, "PR_SET_TSC", Syscall.PRCTL, PR_SET_TSC, value);
            case CPUID -> faulting(tid, value);
            case STORE_BYPASS -> speculation(tid, STORE_BYPASS, value);
            case INDIRECT_BRANCH -> speculation(tid, INDIRECT_BRANCH, value);
            case MEMORY_POLICY -> {
                if (attribute.end() == 0) {
                    place(tracee.tryCallIn(tid, SET_MEMPOLICY, value, nodes(attribute), NODE_WORDS * Long.SIZE + 1),
                            "thread " + tid);
                }
            }
            case DENY_WRITE_EXECUTE, MEMORY_MERGE, HUGE_PAGES_DISABLED, LOCK_FUTURE, CORE_FILTER, LOGIN_USER -> {
            } // of the process
            case ENDED_CHILD, PARENT, OBJECT_OWNER, PEER_CREDENTIALS, SOCKET_ERROR, RELEASED_PORT, CALLING, STOP_SIGNAL,
                    SHARED_DESCRIPTORS,
                    SHARED_DIRECTORIES, SHARED_MEMORY, SHARED_HANDLERS, MAIN_ENDED, TIMER_CLOCK -> {
            } // other processes: ProcessTree; and what is open: Descriptors
        }
    }

    /** Before there are threads, which inherit it. Only who has none yet, or CAP_AUDIT_CONTROL, may say it. */
    void logIn() {
        for (Attribute attribute : attributes) {
            if (attribute.kind() == AttributeKind.LOGIN_USER) {
                String user = Long.toString(attribute.values()[0]);
                long fd = tracee.tryCall(Syscall.OPEN, tracee.string("/proc/self/loginuid"),
                        Syscall.O_WRONLY | Syscall.O_CLOEXEC, 0);
                long result = fd < 0 ? fd : tracee.tryCall(Syscall.WRITE, fd, tracee.string(user), user.length());
                if (fd >= 0) {
                    tracee.call("close", Syscall.CLOSE, fd);
                }
                if (result < 0) {
                    tell("its login user (/proc/PID/loginuid) could not be set to " + user
                            + "; it is the user of the restart now", result);
                }
            }
        }
    }

    /** Restores attributes of the process, when all its memory is mapped. */
    void giveProcess() {
        for (Attribute attribute : attributes) {
            long value = attribute.values()[0];
            switch (attribute.kind()) {
                case MEMORY_MERGE -> tracee.call("PR_SET_MEMORY_MERGE", Syscall.PRCTL, PR_SET_MEMORY_MERGE, value, 0, 0,
                        0);
                case LOCK_FUTURE -> tracee.call(
                        "mlockall (if not permitted: raise the limit of locked memory, ulimit -l)", MLOCKALL, value);
                case CORE_FILTER -> filter(value);
                case DENY_WRITE_EXECUTE -> tracee.call("PR_SET_MDWE", Syscall.PRCTL, PR_SET_MDWE, value, 0, 0, 0);
                case HUGE_PAGES_DISABLED, LOGIN_USER -> {
                } // before memory came in: ProcessAttributes; before there are threads
                case MACHINE_CHECK, IO_FLUSHER, TIME_STAMP_COUNTER, CPUID, STORE_BYPASS, INDIRECT_BRANCH,
                        MEMORY_POLICY -> {
                } // of threads and memory
                case ENDED_CHILD, PARENT, OBJECT_OWNER, PEER_CREDENTIALS, SOCKET_ERROR, RELEASED_PORT, CALLING,
                        STOP_SIGNAL,
                        SHARED_DESCRIPTORS,
                        SHARED_DIRECTORIES, SHARED_MEMORY, SHARED_HANDLERS, MAIN_ENDED, TIMER_CLOCK -> {
                }
            }
        }
    }

    /** The exit code with which its main thread has ended; empty: it has not. */
    OptionalInt mainEnd() {
        return attributes.stream().filter(attribute -> attribute.kind() == AttributeKind.MAIN_ENDED)
                .mapToInt(attribute -> (int) attribute.values()[0]).findFirst();
    }

    /** Flags of PR_SET_THP_DISABLE. */
    long hugePagesFlags() {
        return attributes.stream().filter(attribute -> attribute.kind() == AttributeKind.HUGE_PAGES_DISABLED)
                .mapToLong(attribute -> attribute.values()[0] & ~1).findFirst().orElse(0);
    }

    private void faulting(int tid, long value) {
        long result = tracee.tryCallIn(tid, Syscall.ARCH_PRCTL, ARCH_SET_CPUID, value);
        if (result < 0) {
            throw tracee.unsupported("it has the cpuid instruction fault (arch_prctl(2), ARCH_SET_CPUID), which this "
                    + "processor does not support (" + LinuxError.name((int) -result) + ")");
        }
    }

    /** A processor that does not speculate so has nothing to switch off (ENXIO, ENODEV). */
    private void speculation(int tid, int which, long value) {
        long result = tracee.tryCallIn(tid, Syscall.PRCTL, PR_SET_SPECULATION_CTRL, which, value, 0, 0);
        if (result < 0) {
            tell("speculation of kind " + which + " could not be set to " + value + " in thread " + tid, result);
        }
    }

    /** A machine without the nodes puts memory where it likes. */
    private void place(long result, String what) {
        if (result == -LinuxError.EINVAL) {
            tell(what + " was bound to NUMA nodes that this machine does not have; it is not bound now", result);
        } else {
            LinuxError.check(result, tracee.name() + ": NUMA policy of " + what);
        }
    }

    private void tell(String what, long result) {
        System.err.println("udckpt: " + tracee.name() + ": " + what + " (" + LinuxError.name((int) -result) + ")");
    }

    /** Address of the set of nodes, in the scratch. */
    private long nodes(Attribute policy) {
        Struct mask = tracee.structure();
        for (long word : Arrays.copyOf(Arrays.copyOfRange(policy.values(), 1, policy.values().length), NODE_WORDS)) {
            mask.i64(word);
        }
        return mask.put();
    }

    private void filter(long value) {
        String path = "/proc/" + tracee.hostPid() + "/coredump_filter";
        String text = "0x" + Long.toHexString(value);
        int fd = Files.open(path, Syscall.O_WRONLY);
        try {
            LinuxError.check(Syscall.call(Syscall.WRITE, fd, Scratch.string(text),
                    text.getBytes(StandardCharsets.US_ASCII).length), tracee.name() + ": write " + path);
        } finally {
            Files.close(fd);
        }
    }
}
