package org.udckpt.job.store;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.job.report.Failure;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemorySource;

/**
 * A checkpoint that is looked at: what the agent and the processes were, and their memory where it is asked for.
 *
 * @param location where it was found
 * @param reader checks what it reads
 * @param state the agent's half
 * @param image the processes' half
 * @param ranks which processes are ranks
 * @param memories by process (pid) and shared object (id)
 */
public record OpenImage(ImageLocation location, CheckpointReader reader, JobState state, JobImage image, List<RankRow> ranks, Map<MemoryKey, MemorySource> memories)
        implements AutoCloseable {

    /** {@code process}: the id is a pid, else one of a SharedMemory. */
    public record MemoryKey(boolean process, long id) {}

    /** {@code text} is the command line's DIR[/ID]; 66 when there is none, 65 when it is damaged. */
    public static OpenImage open(String text, ImageKey key) {
        ImageLocation location = ImageLocation.find(text, key);
        CheckpointReader reader = location.open(key);
        try {
            JobImage image = ImageTables.readImage(reader);
            return new OpenImage(location, reader, ImageTables.readState(reader), image, ImageTables.readRanks(reader, image), memories(reader, image));
        } catch (IOException | RuntimeException e) {
            Failure failure = Failure.of("reading " + location.entry().name(), e);
            try {
                reader.close();
            } catch (IOException more) {
                failure.addSuppressed(more);
            }
            throw failure;
        }
    }

    private static Map<MemoryKey, MemorySource> memories(CheckpointReader reader, JobImage image) throws IOException {
        Map<MemoryKey, MemorySource> sources = new HashMap<>();
        ImageTables.readMemory(reader, image).forEach(source -> sources.put(new MemoryKey(source.process(), source.id()), source));
        return sources;
    }

    public String name() {
        return location.entry().name();
    }

    /** A process's private memory. */
    public MemorySource memory(int pid) {
        return memories.getOrDefault(new MemoryKey(true, pid), new Nothing(true, pid));
    }

    /** A shared object's contents. */
    public MemorySource shared(long id) {
        return memories.getOrDefault(new MemoryKey(false, id), new Nothing(false, id));
    }

    /** The processes of the image. */
    public ImageProcesses processes() {
        return new ImageProcesses(name(), image.processes(), ranks);
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }

    /** Of what nothing is stored: all of it is zero, or a mapped file's. */
    private record Nothing(boolean process, long id) implements MemorySource {
        @Override
        public long[] extents() {
            return new long[0];
        }

        @Override
        public void read(long offset, MemorySegment target) {
            throw new IllegalArgumentException("nothing is stored of " + this);
        }
    }
}
