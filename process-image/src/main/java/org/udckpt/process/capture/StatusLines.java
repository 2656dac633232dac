package org.udckpt.process.capture;

import java.util.List;
import java.util.Set;
import org.udckpt.linux.Proc;

/**
 * What /proc/PID/status (proc_pid_status(5), Linux 6.18) tells of a task, as far as a restart would lose it; and
 * whether a newer kernel has lines there of which nobody knows what would be lost.
 */
final class StatusLines {
    /** Lines whose treatment is known: docs/internals/attributes.md. */
    static final Set<String> KNOWN = Set.of("Name", "Umask", "State", "Tgid", "Ngid", "Pid", "PPid", "TracerPid", "Uid",
            "Gid", "FDSize", "Groups", "NStgid", "NSpid", "NSpgid", "NSsid",
            "Kthread", "VmPeak", "VmSize", "VmLck", "VmPin", "VmHWM", "VmRSS", "RssAnon", "RssFile", "RssShmem",
            "VmData", "VmStk", "VmExe", "VmLib", "VmPTE", "VmPMD", "VmSwap",
            "HugetlbPages", "CoreDumping", "THP_enabled", "untag_mask", "Threads", "SigQ", "SigPnd", "ShdPnd", "SigBlk",
            "SigIgn", "SigCgt", "CapInh", "CapPrm", "CapEff", "CapBnd",
            "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters", "Speculation_Store_Bypass",
            "SpeculationIndirectBranch", "Cpus_allowed", "Cpus_allowed_list", "Mems_allowed",
            "Mems_allowed_list", "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches", "x86_Thread_features",
            "x86_Thread_features_locked");
    /** In this kernel. */
    static final List<String> UNKNOWN = unknown(Proc.text("/proc/self/status"));
    /** PR_SPEC_ENABLE, _DISABLE, _FORCE_DISABLE, _DISABLE_NOEXEC of prctl(2), PR_SET_SPECULATION_CTRL. */
    private static final int ENABLE = 2, DISABLE = 4, FORCE_DISABLE = 8, DISABLE_NOEXEC = 16;
    private static final String STORE_BYPASS = "Speculation_Store_Bypass:",
            INDIRECT_BRANCH = "SpeculationIndirectBranch:";
    private static final String ALL_ADDRESS_BITS = "0xffffffffffffffff";

    private StatusLines() {}

    static List<String> unknown(String status) {
        return status.lines().map(line -> line.substring(0, Math.max(0, line.indexOf(':'))))
                .filter(name -> !name.isEmpty() && !KNOWN.contains(name)).toList();
    }

    /** Why a thread with this status cannot be checkpointed; null: it can. */
    static String refusal(TaskStatus status) {
        String mask = status.field("untag_mask:");
        if (mask != null && !mask.equals(ALL_ADDRESS_BITS)) {
            return "it has addresses with tags (arch_prctl(2), ARCH_ENABLE_TAGGED_ADDR: Intel's LAM), which cannot be "
                    + "checkpointed";
        }
        String features = status.field("x86_Thread_features:");
        if (features != null && !features.isEmpty()) {
            return "it has a shadow stack (x86_Thread_features: " + features
                    + "), which cannot be checkpointed; run it with GLIBC_TUNABLES=glibc.cpu.hwcaps=-SHSTK";
        }
        return null;
    }

    /**
     * PR_SPEC_STORE_BYPASS for prctl(2), where the thread has asked for another mode than the one that its job was
     * started with ({@code origin}); else 0.
     */
    static int storeBypass(TaskStatus status, TaskStatus origin) {
        if (status.agrees(STORE_BYPASS, origin)) {
            return 0;
        }
        return switch (status.field(STORE_BYPASS)) {
            case "thread force mitigated" -> FORCE_DISABLE;
            case "thread mitigated" -> DISABLE;
            case "thread vulnerable" -> ENABLE;
            default -> DISABLE_NOEXEC; // which the kernel has no words for
        };
    }

    /** As {@link #storeBypass}, of PR_SPEC_INDIRECT_BRANCH. */
    static int indirectBranch(TaskStatus status, TaskStatus origin) {
        if (status.agrees(INDIRECT_BRANCH, origin)) {
            return 0;
        }
        return switch (status.field(INDIRECT_BRANCH)) {
            case "conditional force disabled" -> FORCE_DISABLE;
            case "conditional disabled" -> DISABLE;
            case "conditional enabled" -> ENABLE;
            default -> 0; // the machine's, and no thread's
        };
    }
}
