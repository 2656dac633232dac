package org.udckpt.process.model;

import java.util.Map;

/**
 * The two-letter flags that the kernel shows of a mapping (VmFlags of proc_pid_smaps(5); fs/proc/task_mmu.c of Linux
 * 6.18, x86-64), and what becomes of each at a restart. A flag that is not here belongs to a newer kernel, and nobody
 * knows what would be lost with it: such memory is refused by name.
 */
public final class VmFlags {
    /** Droppable (MAP_DROPPABLE). */
    public static final String DROPPABLE = "dp";
    /** Sealed (mseal(2)). */
    public static final String SEALED = "sl";

    /** What a restart does about a flag. */
    public enum Fate {
        /** The call that maps the memory sets it, with a permission or a flag of mmap(2). */
        MAPPED,
        /** Set by a call of its own when the memory is mapped: madvise(2), mlock(2), mseal(2). */
        SET,
        /** Follows from the mapping, or tells of the present only. */
        FOLLOWS,
        /** Memory with it is refused. */
        REFUSED
    }

    private static final Map<String, Fate> FATES = Map.ofEntries(
            Map.entry("rd", Fate.MAPPED), Map.entry("wr", Fate.MAPPED), Map.entry("ex", Fate.MAPPED),
            Map.entry("sh", Fate.MAPPED),
            Map.entry("mr", Fate.MAPPED), Map.entry("mw", Fate.MAPPED), Map.entry("me", Fate.MAPPED),
            Map.entry("ms", Fate.MAPPED),
            Map.entry("gd", Fate.MAPPED), Map.entry("nr", Fate.MAPPED), Map.entry("ht", Fate.MAPPED),
            Map.entry(DROPPABLE, Fate.MAPPED),
            Map.entry("sr", Fate.SET), Map.entry("rr", Fate.SET), Map.entry("dc", Fate.SET), Map.entry("wf", Fate.SET),
            Map.entry("dd", Fate.SET),
            Map.entry("hg", Fate.SET), Map.entry("nh", Fate.SET), Map.entry("mg", Fate.SET), Map.entry("lo", Fate.SET),
            Map.entry("lf", Fate.SET),
            Map.entry(SEALED, Fate.SET),
            Map.entry("ac", Fate.FOLLOWS), Map.entry("de", Fate.FOLLOWS), Map.entry("mm", Fate.FOLLOWS),
            Map.entry("ar", Fate.FOLLOWS),
            Map.entry("sd", Fate.FOLLOWS), // written since somebody cleared it: all is written anew
            Map.entry("gu", Fate.FOLLOWS), // from 6.19 on: there may be guard pages, which are found one by one
            // of a userfaultfd: the job's own descriptor is refused
            Map.entry("um", Fate.FOLLOWS), Map.entry("uw", Fate.FOLLOWS), Map.entry("ui", Fate.FOLLOWS),
            Map.entry("io", Fate.REFUSED), Map.entry("pf", Fate.REFUSED), Map.entry("sf", Fate.REFUSED),
            Map.entry("ss", Fate.REFUSED),
            Map.entry("pk", Fate.REFUSED)); // no code of the kernel's: MappingFlags.KEYED
    private static final Map<String, String> REASONS = Map.of(
            "io", "is device memory (VmFlags io)",
            "pf", "is device or kernel memory (VmFlags pf)",
            "sf", "is persistent memory mapped with MAP_SYNC (VmFlags sf)",
            "pk", "has a memory protection key (pkey_mprotect(2))",
            "ss", "is a shadow stack (VmFlags ss; run it with GLIBC_TUNABLES=glibc.cpu.hwcaps=-SHSTK)");

    private VmFlags() {}

    /** By their names. */
    public static Map<String, Fate> all() {
        return FATES;
    }

    /**
     * Why memory with these flags cannot be checkpointed, as the end of a sentence that begins with it; null: it can.
     */
    public static String refusal(String flags) {
        for (int at = 0; at + 2 <= flags.length(); at += 3) {
            String flag = flags.substring(at, at + 2);
            Fate fate = FATES.get(flag);
            if (fate == null) {
                return "has a flag '" + flag + "' (VmFlags in /proc/PID/smaps) that this version of udckpt does not "
                        + "know and a restart would lose; "
                        + "use a version that knows this kernel";
            }
            if (fate == Fate.REFUSED) {
                return REASONS.get(flag) + ", which cannot be checkpointed";
            }
        }
        return null;
    }
}
