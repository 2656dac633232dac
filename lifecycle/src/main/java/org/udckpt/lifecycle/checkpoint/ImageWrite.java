package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.udckpt.agent.JobFacts;
import org.udckpt.image.Manifest;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.History;
import org.udckpt.image.write.PageHistory;
import org.udckpt.image.write.WriteMeter;
import org.udckpt.launch.LaunchMode;
import org.udckpt.store.ImageProcesses;
import org.udckpt.store.JobState;
import org.udckpt.store.RankRow;
import org.udckpt.store.StateTables;
import org.udckpt.store.StopTimesRow;

/** The part of a checkpoint that overlaps with the job: a frozen job is written, and committed. */
final class ImageWrite implements AutoCloseable {
    private static final int NODE = 0;

    private final JobFacts facts;
    private final WriteMeter meter = new WriteMeter();
    private final ImageChain chain;
    private final CheckpointWriter writer;
    private Map<Long, Integer> numbers = Map.of();

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
    LiveWrite live(NodeSnapshot snapshot) {
        ImageProcesses processes =
                new ImageProcesses(id(), snapshot.capture().image().processes(), snapshot.ranks(facts.launch()));
        return new LiveWrite(meter, processes, snapshot.capture().sources());
    }

    /**
     * Returns when the checkpoint is durable. A {@link org.udckpt.process.files.FileTorn} says that the job has written
     * a file over meanwhile.
     *
     * @param live of {@link #live}; follows it
     * @param stops of the job's incarnation until now
     */
    Manifest write(NodeSnapshot snapshot, LiveWrite live, StopTimesRow stops) throws IOException {
        List<RankRow> ranks = snapshot.ranks(facts.launch());
        NodeImage node = NodeImage.begin(writer.node(NODE, facts.layout().hosts().getFirst().name()), snapshot, ranks,
                chain.files(), live);
        JobState job = JobState.of(facts, snapshot.state().pmi().name(), snapshot.state().namedRuntime());
        StateTables.write(writer, job);
        StateTables.write(writer, snapshot.state());
        StateTables.write(writer, stops);
        node.finish();
        writer.statistics(snapshot.times());
        Manifest manifest = writer.commit(new CheckpointInfo(RankRow.count(ranks), snapshot.takenAt(), "x86_64",
                Map.of("job", facts.name(), "program", job.row().program(), "generation",
                        Integer.toString(facts.generation()), LaunchMode.LABEL, facts.launch().word())));
        chain.complete(writer);
        numbers = node.numbers();
        return manifest;
    }

    /** Numbers of processes in it, by those that the job has for them; when it is written. */
    Map<Long, Integer> numbers() {
        return numbers;
    }

    /** What it holds, when it is written; null where the next one does not need that. */
    PageHistory pages() {
        History history = writer.history();
        return history == null ? null : history.node(NODE);
    }

    /** Removes everything if it was not committed. */
    @Override
    public void close() throws IOException {
        writer.close();
    }
}
