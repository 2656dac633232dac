package org.udckpt.job.checkpoint;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.image.Manifest;
import org.udckpt.image.Range;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.NodeWriter;
import org.udckpt.image.write.WriteMeter;
import org.udckpt.job.agent.JobFacts;
import org.udckpt.job.launch.Launch;
import org.udckpt.job.store.ImageProcesses;
import org.udckpt.job.store.ImageTables;
import org.udckpt.job.store.JobState;
import org.udckpt.job.store.MemoryRow;
import org.udckpt.job.store.RankRow;
import org.udckpt.job.store.StopTimesRow;
import org.udckpt.process.capture.PhaseTimes;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.SelfWriting;

/** The part of a checkpoint that overlaps with the job: a frozen job is written, and committed. */
final class ImageWrite implements AutoCloseable {
    private static final int NODE = 0;

    private final JobFacts facts;
    private final WriteMeter meter = new WriteMeter();
    private final ImageChain chain;
    private final CheckpointWriter writer;

    /** Makes the checkpoint's directory, so that what is wrong with it is known before the job is stopped. */
    ImageWrite(JobFacts facts, ImageChain chain) {
        this.facts = facts;
        this.chain = chain;
        this.writer = chain.begin(meter);
    }

    String id() {
        return writer.name();
    }

    /** The write of a frozen job, which is about to begin. */
    LiveWrite live(Frozen frozen) {
        ImageProcesses processes = new ImageProcesses(id(), frozen.capture().image().processes(), frozen.ranks(facts.launch()));
        return new LiveWrite(meter, processes, frozen.capture().sources());
    }

    /**
     * Returns when the checkpoint is durable. A {@link org.udckpt.process.files.FileTorn} says that the job has written a file over meanwhile.
     *
     * @param live of {@link #live}; follows it
     * @param stops of the job's life until now
     */
    Manifest write(Frozen frozen, LiveWrite live, StopTimesRow stops) throws IOException {
        NodeWriter node = writer.node(NODE, facts.layout().hosts().getFirst().name());
        List<MemoryRow> rows = new ArrayList<>();
        node.expect((int) frozen.capture().sources().stream().filter(SelfWriting.class::isInstance).count());
        Map<Long, String> files = new HashMap<>();
        frozen.capture().image().files().forEach(file -> {
            if (file instanceof JobFile.RegularFile regular) {
                files.put(regular.id(), regular.path());
            }
        });
        for (MemorySource source : frozen.capture().sources()) {
            int number = !source.process() && files.containsKey(source.id()) ? chain.number(files.get(source.id())) : rows.size() + 1;
            rows.add(new MemoryRow(number, source.process(), source.id()));
            live.follow(source, node.memory(number, ranges(source.extents()), PageSources.of(source)));
        }
        ImageTables.write(writer, frozen.state());
        ImageTables.write(writer, stops);
        ImageTables.write(node, frozen.capture().image(), rows);
        List<RankRow> ranks = frozen.ranks(facts.launch());
        ImageTables.writeRanks(node, ranks);
        node.awaitMemory();
        frozen.capture().verifyFiles();
        node.table("rank-phases", PhaseTimes.class, frozen.capture().times());
        writer.statistics(frozen.times());
        JobState state = frozen.state();
        Manifest manifest = writer.commit(new CheckpointInfo((int) ranks.stream().mapToInt(RankRow::rank).distinct().count(), frozen.takenAt(), "x86_64",
                Map.of("job", facts.name(), "program", state.row().program(), "generation", Integer.toString(facts.generation()), Launch.LABEL, facts.launch().word())));
        chain.complete(writer);
        return manifest;
    }

    private static List<Range> ranges(long[] extents) {
        List<Range> ranges = new ArrayList<>();
        for (int i = 0; i < extents.length; i += 2) {
            ranges.add(new Range(extents[i], extents[i + 1] - extents[i]));
        }
        return ranges;
    }

    /** Removes everything if it was not committed. */
    @Override
    public void close() throws IOException {
        writer.close();
    }
}
