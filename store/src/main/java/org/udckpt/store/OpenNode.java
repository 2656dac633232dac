package org.udckpt.store;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.image.read.NodeReader;
import org.udckpt.process.model.Clocks;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.MemorySource;

/**
 * One node of a checkpoint that is looked at. Pids, and ids of objects, are its own: other nodes may have the same.
 *
 * @param index its number in the image
 * @param host on which it was
 * @param state the agent's half
 * @param image the processes' half
 * @param processes the same, by what people call them
 * @param ranks which processes are ranks
 * @param memories by process (pid) and by shared object or file (id)
 */
public record OpenNode(int index, String host, NodeState state, JobImage image, ImageProcesses processes,
        List<RankRow> ranks, Map<MemoryKey, MemorySource> memories) {

    /** {@code process}: the id is a pid, else one of a SharedMemory or a MappedFile. */
    public record MemoryKey(boolean process, long id) {}

    /**
     * Reads all of it but contents of memory, and checks what it reads.
     *
     * @param job of the same checkpoint
     */
    public static OpenNode read(NodeReader reader, JobState job) throws IOException {
        JobImage image = ImageTables.readImage(reader);
        List<RankRow> ranks = ImageTables.readRanks(reader, image, job.span(reader));
        Map<MemoryKey, MemorySource> memories = new HashMap<>();
        ImageTables.readMemory(reader, image)
                .forEach(source -> memories.put(new MemoryKey(source.process(), source.id()), source));
        String name = reader.checkpoint().directory().getFileName().toString();
        return new OpenNode(reader.index(), reader.host(), StateTables.readNode(reader, job), image,
                new ImageProcesses(name, image.processes(), ranks), ranks, memories);
    }

    /**
     * A node on which nothing is: in the place of one that a checkpoint does not have, where it is held against another
     * checkpoint.
     */
    public static OpenNode nothing(int index, String host) {
        JobImage image = new JobImage(List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(),
                new Clocks(0, 0, 0), null);
        return new OpenNode(index, host, null, image, new ImageProcesses("", List.of(), List.of()), List.of(),
                Map.of());
    }

    /** A process's private memory. */
    public MemorySource memory(int pid) {
        return memories.getOrDefault(new MemoryKey(true, pid), new Nothing(true, pid));
    }

    /** A shared object's contents. */
    public MemorySource shared(long id) {
        return memories.getOrDefault(new MemoryKey(false, id), new Nothing(false, id));
    }

    /** Paths of the programs and libraries whose content is in the image. */
    public Set<String> savedLibraries() {
        return image.objects().stream().filter(MappedFile.class::isInstance)
                .filter(file -> memories.containsKey(new MemoryKey(false, file.id())))
                .map(file -> ((MappedFile) file).path()).collect(Collectors.toSet());
    }

    /** Memory of which nothing is stored: all of it is zero, or a mapped file's. */
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
