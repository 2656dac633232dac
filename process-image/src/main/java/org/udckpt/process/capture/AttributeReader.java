package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.SIGSTOP;

import java.util.ArrayList;
import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.Region;

/**
 * Asks the snapshot for what a fork inherits, and the job's threads need not be stopped for: attributes that differ
 * from those of a program that has just been started. {@link ProcessReader} and {@link NumaPolicies} have asked in the
 * stop for what a fork does not inherit.
 */
final class AttributeReader {
    private static final int PR_GET_TSC = 25, PR_MCE_KILL_GET = 34, PR_GET_IO_FLUSHER = 58, PR_GET_MEMORY_MERGE = 68,
            ARCH_GET_CPUID = 0x1011;
    private static final int OWN = (int) ProcessHandle.current().pid();
    private static final long NO_LOGIN = 0xffff_ffffL;
    private static final int PR_TSC_SIGSEGV = 2, PR_MCE_KILL_DEFAULT = 2;
    private static final String FILTER = "/coredump_filter";
    private static final String OWN_FILTER = Proc.text("/proc/self" + FILTER).strip();

    private final TracedProcess process;
    private final SnapshotCalls calls;
    private final List<Attribute> found = new ArrayList<>();

    AttributeReader(TracedProcess process, SnapshotCalls calls) {
        this.process = process;
        this.calls = calls;
    }

    /** @param hugePages PR_GET_THP_DISABLE */
    List<Attribute> read(List<Region> regions, int hugePages) {
        asked();
        if (hugePages > 1) {
            add(AttributeKind.HUGE_PAGES_DISABLED, hugePages);
        }
        if (process.denyWriteExecute != 0) {
            add(AttributeKind.DENY_WRITE_EXECUTE, process.denyWriteExecute);
        }
        if (process.lockFuture != 0) {
            add(AttributeKind.LOCK_FUTURE, process.lockFuture);
        }
        String filter = Proc.text("/proc/" + process.snapshot.pid() + FILTER).strip();
        if (!filter.isEmpty() && !filter.equals(OWN_FILTER)) { // empty: the process has no memory any more
            add(AttributeKind.CORE_FILTER, Long.parseUnsignedLong(filter, 16));
        }
        long login = loginUser(process.snapshot.pid());
        if (login != loginUser(OWN)) {
            if (User.id() != 0 && login != User.id()) {
                throw process.refuse("its login user (/proc/PID/loginuid) was changed to " + login
                        + ", which a restart by an ordinary user, in a user namespace with one user, cannot restore; "
                        + "take the checkpoint as root, or keep the program from changing it");
            }
            add(AttributeKind.LOGIN_USER, login);
        }
        if (process.main().jobStopped && process.main().stopSignal != SIGSTOP) {
            add(AttributeKind.STOP_SIGNAL, process.main().stopSignal);
        }
        if (process.mainEnd != null) {
            add(AttributeKind.MAIN_ENDED, process.mainEnd.exitCode());
        }
        for (TracedThread thread : process.threads) {
            ofThread(thread);
        }
        policies(regions);
        return found;
    }

    /** proc_pid_loginuid(5); a kernel without auditing has none. */
    private static long loginUser(int pid) {
        String path = "/proc/" + pid + "/loginuid";
        return Files.tryStat(path) == null ? NO_LOGIN : Long.parseLong(Proc.text(path).strip());
    }

    private void add(AttributeKind kind, long value) {
        found.add(Attribute.of(kind, process.namespacePid, 0, value));
    }

    /** What threads inherit from the main one, and hardly ever have of their own. */
    private void asked() {
        long tscAt = calls.room(4);
        int merge = calls.add(Syscall.PRCTL, PR_GET_MEMORY_MERGE);
        int machineCheck = calls.add(Syscall.PRCTL, PR_MCE_KILL_GET);
        int flusher = calls.add(Syscall.PRCTL, PR_GET_IO_FLUSHER);
        int tsc = calls.add(Syscall.PRCTL, PR_GET_TSC, tscAt);
        int cpuid = calls.add(Syscall.ARCH_PRCTL, ARCH_GET_CPUID);
        Keyrings.Session session = Keyrings.ask(calls);
        // what a kernel does not have (EINVAL) or does not give (EPERM: only root can have set it) is as at first
        calls.run();
        session.refuseOther(process);
        if (calls.result(merge) == 1) {
            add(AttributeKind.MEMORY_MERGE, 1);
        }
        if (calls.result(machineCheck) >= 0 && calls.result(machineCheck) != PR_MCE_KILL_DEFAULT) {
            add(AttributeKind.MACHINE_CHECK, calls.result(machineCheck));
        }
        if (calls.result(flusher) == 1) {
            add(AttributeKind.IO_FLUSHER, 1);
        }
        if (calls.result(tsc) == 0 && calls.readInt(tscAt) == PR_TSC_SIGSEGV) {
            add(AttributeKind.TIME_STAMP_COUNTER, PR_TSC_SIGSEGV);
        }
        if (calls.result(cpuid) == 0) {
            add(AttributeKind.CPUID, 0);
        }
    }

    private void ofThread(TracedThread thread) {
        if (thread.storeBypass != 0) {
            found.add(Attribute.of(AttributeKind.STORE_BYPASS, process.namespacePid, thread.namespaceTid,
                    thread.storeBypass));
        }
        if (thread.indirectBranch != 0) {
            found.add(Attribute.of(AttributeKind.INDIRECT_BRANCH, process.namespacePid, thread.namespaceTid,
                    thread.indirectBranch));
        }
        if (thread.memoryPolicy.length > 0) {
            found.add(Attribute.of(AttributeKind.MEMORY_POLICY, process.namespacePid, thread.namespaceTid,
                    thread.memoryPolicy));
        }
    }

    private record Asked(Region region, int place, long answer) {}

    /** Reads the memory policies of mappings (mbind(2)). */
    private void policies(List<Region> regions) {
        List<Asked> asked = new ArrayList<>();
        for (Region region : regions) {
            if (!region.kernelOwned()) {
                if (calls.full(1, NumaPolicies.BYTES)) {
                    take(asked);
                }
                long answer = calls.room(NumaPolicies.BYTES);
                asked.add(new Asked(region, calls.add(NumaPolicies.GET_MEMPOLICY, answer, answer + 8, NumaPolicies.BITS,
                        region.start(), NumaPolicies.OF_ADDRESS), answer));
            }
        }
        take(asked);
    }

    private void take(List<Asked> asked) {
        calls.run();
        for (Asked one : asked) {
            if (calls.result(one.place) == 0 && calls.readInt(one.answer) != 0) {
                // ENOSYS: no NUMA; EFAULT: not in the snapshot
                long[] policy = NumaPolicies.values(calls.read(one.answer, NumaPolicies.BYTES));
                found.add(new Attribute(process.namespacePid, 0, AttributeKind.MEMORY_POLICY.label(),
                        one.region.start(), one.region.end(), policy));
            }
        }
        asked.clear();
    }
}
