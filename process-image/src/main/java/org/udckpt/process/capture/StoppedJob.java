package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.RLIMIT_NOFILE;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Limits;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.files.FileCut;
import org.udckpt.process.files.Prefixes;
import org.udckpt.process.files.QuietFiles;
import org.udckpt.process.kinds.aio.AioContext;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.Outside;
import org.udckpt.process.kinds.mount.JobMounts;
import org.udckpt.process.kinds.mount.MountRows;
import org.udckpt.process.model.Clocks;
import org.udckpt.process.model.DescriptorNumbers;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.TimeOffsets;
import org.udckpt.process.model.Zombie;

/** The state that is read of all ranks together, while they are stopped. */
final class StoppedJob {
    final ObjectTable table;
    final FileCut files;
    final MemoryObjects memory;
    final DescriptorReader reader;
    final JobMounts mounts = new JobMounts();
    final Map<TracedProcess, List<Region>> regions = new HashMap<>();
    final List<Zombie> zombies = new ArrayList<>();
    Clocks clocks;
    int parent;
    long objectsNs;

    StoppedJob(CaptureRequest request, Prefixes growing) {
        table = new ObjectTable(new Outside(request.closesOutside()));
        files = new FileCut(request.files().with(request.streams().identities()), table::newId, growing);
        memory = new MemoryObjects(table, files);
        reader = new DescriptorReader(request, table, memory, mounts.others().networks());
    }

    /** From outside, and nothing is opened: as soon as the processes stand. */
    void look(List<RankCapture> ranks) {
        long start = System.nanoTime();
        for (RankCapture rank : ranks) {
            rank.processes().forEach(reader::look);
        }
        objectsNs = System.nanoTime() - start;
    }

    /** When all kinds have asked: rings go on with what they had in flight for a while in a stop. */
    void lookAgain(List<RankCapture> ranks) {
        List<TracedProcess> all = ranks.stream().flatMap(rank -> rank.processes().stream()).toList();
        if (all.stream().anyMatch(RingDrain::concerns)) { // what processes share they see together
            all.forEach(reader::lookAgain);
        }
    }

    void readObjects(List<RankCapture> ranks) {
        long start = System.nanoTime();
        for (RankCapture rank : ranks) {
            rank.processes().forEach(reader::known);
            rank.zombies().rows().forEach(reader::known);
        }
        QuietFiles quiet = new QuietFiles(reader.observers());
        files.openBy(quiet);
        memory.openBy(quiet, ranks.stream().flatMap(rank -> rank.processes().stream()).toList());
        reader.openBy(quiet);
        for (RankCapture rank : ranks) {
            for (TracedProcess process : rank.processes()) {
                reader.read(process, rank.root);
                regions.put(process, mapped(process));
            }
            zombies.addAll(rank.zombies().rows());
        }
        reader.readInFlight();
        reader.finish();
        new MountRows(mounts, table, memory::addMounted, quiet)
                .add(ranks.stream().flatMap(rank -> rank.processes().stream()).toList());
        refuseTooMany(ranks.getFirst().processes().getFirst());
        files.cut();
        clocks = clocks(SharingCheck.origin(ranks.getFirst().processes().getFirst()));
        parent = SharingCheck.parentNumber(ranks.getFirst().processes().getFirst());
        objectsNs += System.nanoTime() - start;
    }

    /** A restart with CAP_SYS_RESOURCE may have as many descriptors as the kernel lets any process have. */
    private void refuseTooMany(TracedProcess root) {
        long limit = AgentRights.mayRaiseLimits() ? Long.parseLong(Proc.text("/proc/sys/fs/nr_open").strip())
                : Math.max(hard(root.pid), hard((int) ProcessHandle.current().pid()));
        String refusal = DescriptorNumbers.of(reader.descriptors(), table.objects(), table.terminals()).refusal(limit);
        if (refusal != null) {
            throw root.refuse("the job " + refusal);
        }
    }

    private static long hard(int pid) {
        long limit = Limits.of(pid)[2 * RLIMIT_NOFILE + 1];
        return limit == Limits.INFINITY ? Long.MAX_VALUE : limit;
    }

    private List<Region> mapped(TracedProcess process) {
        List<Region> mapped = new ArrayList<>();
        for (Mapping m : process.ownMappings()) {
            if (!process.owns(m)) {
                long backing = memory.ofMapping(process, m);
                boolean empty = backing == 0 && m.path().equals(AioContext.PATH); // of a parent's context
                mapped.add(new Region(process.namespacePid, m.start(), m.end(), m.permissions(), m.offset(),
                        empty ? "" : m.path(), "", backing));
            }
        }
        return mapped;
    }

    private static Clocks clocks(int pid) {
        long[] now = {clock(1), clock(7), clock(0)};
        TimeOffsets offsets = TimeOffsets.of(Proc.text("/proc/" + pid + "/timens_offsets"));
        now[0] += offsets.monotonicNs();
        now[1] += offsets.boottimeNs();
        return new Clocks(now[0], now[1], now[2]);
    }

    private static long clock(int id) {
        LinuxError.check(Syscall.call(Syscall.CLOCK_GETTIME, id, Scratch.data().address()), "clock_gettime");
        return Scratch.data().get(JAVA_LONG, 0) * 1_000_000_000L + Scratch.data().get(JAVA_LONG, 8);
    }
}
