package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.SIGKILL;
import static org.udckpt.linux.LinuxConstants.SIGSTOP;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.Limits;
import org.udckpt.linux.MappingFlags;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.model.VmFlags;
import org.udckpt.process.trace.BuildId;

/** The records of one process, from what was read in the stop and, while the job runs again, from its snapshot. */
final class ImageBuilder {
    private static final int SIGNALS = 64, SIGACTION = 32;
    private static final int PR_GET_DUMPABLE = 3, PR_GET_TIMERSLACK = 30, PR_GET_THP_DISABLE = 42,
            ARCH_GET_XCOMP_PERM = 0x1022;

    private ImageBuilder() {}

    /** What the kernel keeps for one process. */
    record Kept(ProcessState state, List<Attribute> attributes) {}

    /**
     * On the tracer thread of the snapshot.
     *
     * @param regions as {@link #regions} says them: before, for calls in the snapshot map memory of their own
     */
    static Kept process(TracedProcess process, List<Region> regions) {
        int snapshot = process.snapshot.pid();
        SnapshotCalls calls = new SnapshotCalls(process);
        int brk = calls.add(Syscall.BRK, 0);
        int dumpable = calls.add(Syscall.PRCTL, PR_GET_DUMPABLE);
        int slack = calls.add(Syscall.PRCTL, PR_GET_TIMERSLACK);
        int noHugePages = calls.add(Syscall.PRCTL, PR_GET_THP_DISABLE, 0, 0, 0, 0);
        long permitted = calls.room(8);
        int permissions = calls.add(Syscall.ARCH_PRCTL, ARCH_GET_XCOMP_PERM, permitted);
        long actions = askActions(calls);
        calls.run();
        int hugePages = (int) calls.check(noHugePages, "prctl(PR_GET_THP_DISABLE)");
        ProcessState state = new ProcessState(process.namespacePid, TreeCheck.parent(process), process.namespaceGroup,
                process.namespaceSession, process.rank, program(process),
                Files.readLink("/proc/" + snapshot + "/cwd"),
                Integer.parseInt(Proc.field(process.status, "Umask:"), 8), process.withEndedMain().getFirst().name,
                Proc.bytes("/proc/" + snapshot + "/auxv"), memoryMap(Proc.stat(snapshot), calls.check(brk, "brk")),
                calls.read(actions, (SIGNALS + 1) * SIGACTION), process.pendingSignals, process.intervalTimers,
                Limits.of(snapshot),
                Integer.parseUnsignedInt(Proc.text("/proc/" + snapshot + "/personality").strip(), 16),
                process.parentDeathSignal, calls.check(dumpable, "prctl(PR_GET_DUMPABLE)") == 1,
                process.childSubreaper, "1".equals(Proc.field(process.status, "NoNewPrivs:")), process.ownedDescriptors,
                process.ownedRanges,
                process.main().jobStopped, calls.check(slack, "prctl(PR_GET_TIMERSLACK)"), hugePages != 0,
                vdsoBuild(process),
                process.barriers, calls.result(permissions) == 0 ? calls.readLong(permitted) : 0,
                Integer.parseInt(Proc.text("/proc/" + snapshot + "/oom_score_adj").strip()));
        List<Attribute> attributes = new AttributeReader(process, calls).read(regions, hugePages);
        KeyCheck.refuse(process, calls);
        LandlockCheck.refuse(process, calls);
        return new Kept(state, attributes);
    }

    private static String program(TracedProcess process) {
        String link = Files.readLink("/proc/" + process.snapshot.pid() + "/exe");
        return process.programDeleted ? OpenDescriptor.name(link) : link;
    }

    private static String vdsoBuild(TracedProcess process) {
        for (Mapping mapping : process.mappings) {
            if (mapping.vdso()) {
                return BuildId.of(
                        process.snapshot.memory().readBytes(mapping.start(), (int) (mapping.end() - mapping.start())));
            }
        }
        return "";
    }

    /**
     * Fields of proc_pid_stat(5): 26 startcode, 27 endcode, 28 startstack, 45.. start_data end_data start_brk arg env.
     */
    private static long[] memoryMap(String[] stat, long brk) {
        int[] fields = {26, 27, 45, 46, 47, 0, 28, 48, 49, 50, 51};
        long[] map = new long[11];
        for (int i = 0; i < map.length; i++) {
            map[i] = fields[i] == 0 ? brk : Long.parseUnsignedLong(stat[fields[i] - 3]);
        }
        return map;
    }

    /** Address of the answers, one behind the other from signal 0 on, which has none. */
    private static long askActions(SnapshotCalls calls) {
        long answers = calls.room((SIGNALS + 1) * SIGACTION);
        for (int signal = 1; signal <= SIGNALS; signal++) {
            if (signal != SIGKILL && signal != SIGSTOP) {
                calls.add(Syscall.RT_SIGACTION, signal, 0, answers + (long) signal * SIGACTION, 8);
            }
        }
        return answers;
    }

    static List<ThreadState> threads(TracedProcess process) {
        List<ThreadState> states = new ArrayList<>();
        for (TracedThread t : process.withEndedMain()) {
            states.add(new ThreadState(process.namespacePid, t.namespaceTid, t.registers.toBytes(), t.xstate,
                    t.signalMask, t.pendingSignals, t.robustList,
                    t.robustListLength, t.clearChildTid, t.altStackPointer, t.altStackFlags, t.altStackSize, t.rseq[0],
                    (int) t.rseq[1], (int) t.rseq[2],
                    (int) t.rseq[3], t.name, t.policy, t.priority, t.nice, t.affinity, t.ioPriority));
        }
        return states;
    }

    /**
     * Adds the flags that only smaps knows to the regions of the stop, and refuses those that nobody could set again.
     */
    static List<Region> regions(TracedProcess process, List<Region> unflagged) {
        Map<Long, MappingFlags> forked = MappingFlags.of(process.snapshot.pid()).stream()
                .collect(Collectors.toMap(MappingFlags::start, Function.identity()));
        List<Region> regions = new ArrayList<>();
        for (Region region : unflagged) {
            String own =
                    region.kernelOwned() ? "" : flags(forked.get(region.start()), process.flags.get(region.start()));
            if (own.isEmpty() && process.writableSegments.contains(region.start())) {
                own = MappingFlags.MAY_WRITE;
            }
            String refusal = VmFlags.refusal(own);
            if (refusal != null) {
                throw process.refuse("memory at 0x" + Long.toHexString(region.start())
                        + (region.path().isEmpty() ? "" : " (" + region.path() + ")") + " " + refusal);
            }
            regions.add(new Region(region.pid(), region.start(), region.end(), region.permissions(),
                    region.fileOffset(), region.path(), own, region.backing()));
        }
        return regions;
    }

    /**
     * @param forked null: not in the snapshot (MADV_DONTFORK; System V segments, which it has left)
     * @param stopped null: nothing was locked or left out of the fork
     */
    private static String flags(MappingFlags forked, MappingFlags stopped) {
        if (forked == null) {
            return stopped == null ? "" : stopped.flags();
        }
        String locked = stopped == null || !stopped.has(MappingFlags.LOCKED) ? "" : " " + MappingFlags.LOCKED;
        return forked.flags() + locked
                + (locked.isEmpty() || !stopped.has(MappingFlags.LOCKED_LATER) ? "" : " " + MappingFlags.LOCKED_LATER);
    }
}
