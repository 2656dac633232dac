package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.image.Range;
import org.udckpt.image.write.NodeWriter;
import org.udckpt.image.write.Unchanged;
import org.udckpt.process.capture.Capture;
import org.udckpt.process.capture.PhaseTimes;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.SelfWriting;
import org.udckpt.process.model.SharedRange;
import org.udckpt.process.model.Unwritten;
import org.udckpt.store.FilePlace;
import org.udckpt.store.ImageTables;
import org.udckpt.store.MemoryRow;
import org.udckpt.store.RankRow;
import org.udckpt.store.StateTables;
import org.udckpt.support.report.Messages;

/**
 * One node's share of a checkpoint on its way into an image: its processes' memory, and the tables about them.
 *
 * <pre>{@code
 * NodeImage image = NodeImage.begin(node, snapshot, ranks, files, live);
 * image.writeAgent(place);                   // only where the node is one of several
 * image.finish();                         // then NodeWriter's owner makes it durable
 * }</pre>
 */
final class NodeImage {
    private final NodeWriter node;
    private final NodeSnapshot snapshot;
    private final KnownPrograms programs;
    private final Map<Long, Integer> numbers;

    private NodeImage(NodeWriter node, NodeSnapshot snapshot, KnownPrograms programs, Map<Long, Integer> numbers) {
        this.node = node;
        this.snapshot = snapshot;
        this.programs = programs;
        this.numbers = numbers;
    }

    /**
     * Has the memory written, and returns when the tables about the processes are.
     *
     * @param snapshot open until {@link #finish} has returned, or the writer is closed
     * @param ranks which of its processes are ranks
     * @param files of this node in all its checkpoints
     * @param live counts what is written
     */
    static NodeImage begin(NodeWriter node, NodeSnapshot snapshot, List<RankRow> ranks, FileNumbers files,
            LiveWrite live) throws IOException {
        Capture capture = snapshot.capture();
        node.expect((int) capture.sources().stream().filter(SelfWriting.class::isInstance).count());
        Map<Long, String> paths = paths(capture.image());
        List<MemoryRow> rows = new ArrayList<>();
        Map<Long, Integer> numbers = new HashMap<>(); // of processes, which come first
        for (MemorySource source : capture.sources()) {
            int number = !source.process() && paths.containsKey(source.id()) ? files.of(paths.get(source.id()))
                    : rows.size() + 1;
            rows.add(new MemoryRow(number, source.process(), source.id()));
            live.follow(source,
                    node.memory(number, ranges(source.own()), PageSources.of(source), unchanged(source.unwritten())));
            if (source.process()) {
                numbers.put(source.id(), number);
            }
            share(node, number, source, numbers);
        }
        ImageTables.requireReadable(capture.image(), capture.sources());
        ImageTables.write(node, capture.image(), rows);
        ImageTables.writeRanks(node, ranks);
        return new NodeImage(node, snapshot, files.programs(), numbers);
    }

    /** What the agent of one node of several adds: its own state. */
    void writeAgent(FilePlace place) throws IOException {
        StateTables.write(node, snapshot.state(), place);
    }

    /**
     * Returns when all memory is in the stripe files. A {@link org.udckpt.process.files.FileTorn} says that the job has
     * written a file over meanwhile.
     */
    void finish() throws IOException {
        ImageTables.writeIdentities(node, programs.of(snapshot.capture())); // while others write the memory
        node.awaitMemory();
        ImageTables.writeCuda(node, snapshot.capture().image(), snapshot.cuda().times(), snapshot.cuda().gpus());
        snapshot.capture().verifyFiles();
        snapshot.capture().libraries().notes().forEach(Messages::warn);
        node.table("rank-phases", PhaseTimes.class, snapshot.capture().times());
    }

    /** Numbers of processes in the image, by those that the job has for them. */
    Map<Long, Integer> numbers() {
        return numbers;
    }

    private static Map<Long, String> paths(JobImage image) {
        Map<Long, String> paths = new HashMap<>();
        for (KernelObject object : image.objects()) {
            if (object instanceof MappedFile mapped) {
                paths.put(mapped.id(), mapped.path());
            }
        }
        for (JobFile file : image.files()) {
            if (file instanceof JobFile.RegularFile regular) {
                paths.put(regular.id(), regular.path());
            }
        }
        return paths;
    }

    /** What only has to name another process's bytes ({@link SharedRange}) is not written. */
    private static void share(NodeWriter node, int number, MemorySource source, Map<Long, Integer> numbers) {
        for (SharedRange range : source.shared()) {
            node.share(number, numbers.get(range.with()),
                    List.of(new Range(range.start(), range.end() - range.start())));
        }
    }

    private static Unchanged unchanged(Unwritten memory) {
        return memory.checkpoint() == 0 ? Unchanged.NOTHING
                : new Unchanged(memory.checkpoint(), memory.process(), ranges(memory.unchanged()));
    }

    private static List<Range> ranges(long[] extents) {
        List<Range> ranges = new ArrayList<>();
        for (int i = 0; i < extents.length; i += 2) {
            ranges.add(new Range(extents[i], extents[i + 1] - extents[i]));
        }
        return ranges;
    }
}
