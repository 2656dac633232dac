package org.udckpt.job.checkpoint;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.udckpt.image.Manifest;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.WriteMeter;
import org.udckpt.job.agent.JobFacts;
import org.udckpt.job.launch.Launch;
import org.udckpt.job.store.ImageProcesses;
import org.udckpt.job.store.JobState;
import org.udckpt.job.store.RankRow;
import org.udckpt.job.store.StateTables;
import org.udckpt.job.store.StopTimesRow;

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
        List<RankRow> ranks = frozen.ranks(facts.launch());
        NodeImage node = NodeImage.begin(writer.node(NODE, facts.layout().hosts().getFirst().name()), frozen, ranks, chain.files(), live);
        JobState job = JobState.of(facts, frozen.state().pmi().name(), frozen.state().namedRuntime());
        StateTables.write(writer, job);
        StateTables.write(writer, frozen.state());
        StateTables.write(writer, stops);
        node.finish();
        writer.statistics(frozen.times());
        Manifest manifest = writer.commit(new CheckpointInfo(RankRow.count(ranks), frozen.takenAt(), "x86_64",
                Map.of("job", facts.name(), "program", job.row().program(), "generation", Integer.toString(facts.generation()), Launch.LABEL, facts.launch().word())));
        chain.complete(writer);
        return manifest;
    }

    /** Removes everything if it was not committed. */
    @Override
    public void close() throws IOException {
        writer.close();
    }
}
