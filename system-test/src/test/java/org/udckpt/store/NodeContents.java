package org.udckpt.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.image.Range;
import org.udckpt.image.read.NodeReader;
import org.udckpt.image.write.NodeWriter;
import org.udckpt.image.write.PageSource;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.process.capture.PhaseTimes;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.ProcessState;

/** What a node of an image holds, to be written as a node of another. */
public record NodeContents(NodeState state, JobImage image, List<RankRow> ranks, List<MemoryRow> rows,
        List<MemorySource> memory, List<PhaseTimes> captures) {
    /** Of a checkpoint of one node, whose reader must stay open. */
    public static NodeContents read(NodeReader node) throws IOException {
        JobState job = StateTables.readJob(node.checkpoint());
        JobImage image = ImageTables.readImage(node);
        return new NodeContents(StateTables.readNode(node, job), image,
                ImageTables.readRanks(node, image, job.span(node)), node.table("memory", MemoryRow.class),
                ImageTables.readMemory(node, image), node.table("rank-phases", PhaseTimes.class));
    }

    /** The same of what has one rank, which has another number. */
    NodeContents as(int rank) {
        List<ProcessState> processes = image.processes().stream().map(process -> numbered(process, rank)).toList();
        return new NodeContents(state,
                image.elsewhere(processes, image.regions(), image.objects(), image.watches(), image.files(),
                        image.identities(), image.names()),
                ranks.stream().map(row -> new RankRow(row.pid(), rank, row.mpiRank(), row.verbs())).toList(), rows,
                memory,
                captures.stream()
                        .map(times -> new PhaseTimes(rank, times.pid(), times.processes(), times.threads(),
                                times.stopNs(), times.stateNs(), times.objectsNs(),
                                times.forkNs(), times.resumeNs(), times.totalNs()))
                        .toList());
    }

    NodeContents with(NodeState other) {
        return new NodeContents(other, image, ranks, rows, memory, captures);
    }

    NodeContents withRanks(List<RankRow> others) {
        return new NodeContents(state, image, others, rows, memory, captures);
    }

    NodeContents withRows(List<MemoryRow> others) {
        return new NodeContents(state, image, ranks, others, memory, captures);
    }

    private static ProcessState numbered(ProcessState p, int rank) {
        return new ProcessState(p.pid(), p.parentPid(), p.processGroup(), p.session(), rank, p.executable(),
                p.workingDirectory(), p.umask(), p.name(), p.auxv(), p.memoryMap(),
                p.signalActions(), p.pendingSignals(), p.intervalTimers(), p.limits(), p.personality(),
                p.parentDeathSignal(), p.dumpable(), p.childSubreaper(),
                p.noNewPrivileges(), p.ownedDescriptors(), p.ownedRanges(), p.jobStopped(), p.timerSlackNs(),
                p.hugePagesDisabled(), p.vdsoBuild(), p.barriers(),
                p.vectorPermissions(), p.oomAdjustment());
    }

    /** As an agent of several writes it. */
    void write(NodeWriter node) throws IOException {
        for (int i = 0; i < memory.size(); i++) {
            MemorySource source = memory.get(i);
            PageSource pages = (address, into) -> {
                source.read(address, into);
                return into.byteSize();
            };
            node.memory(rows.get(i).number(), ranges(source.extents()), pages);
        }
        StateTables.write(node, state, new FilePlace("boot", 1));
        ImageTables.write(node, image, rows);
        ImageTables.writeRanks(node, ranks);
        int rank = ranks.getFirst().rank();
        node.table("phases", PhaseTime.class, List.of(new PhaseTime(PhaseTime.JOB, Phase.SUSPEND, 1_500_000),
                new PhaseTime(rank, Phase.RESUME, 300_000)));
        node.table("rank-phases", PhaseTimes.class, captures);
    }

    private static List<Range> ranges(long[] extents) {
        List<Range> ranges = new ArrayList<>();
        for (int i = 0; i < extents.length; i += 2) {
            ranges.add(new Range(extents[i], extents[i + 1] - extents[i]));
        }
        return ranges;
    }
}
