package org.udckpt.inspect.plan;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.udckpt.image.read.NodeReader;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.SharedMemory;
import org.udckpt.store.ImageProcesses;
import org.udckpt.store.ImageTables;
import org.udckpt.store.JobState;
import org.udckpt.store.StateTables;
import org.udckpt.support.report.Durations;

/**
 * What the ranks of one agent have in common, as its part of an image says: why they cannot be parted. That they copied
 * from each other's memory (process_vm_readv(2), which MPI libraries call CMA) leaves no trace in an image; what they
 * did it by, their process ids, does.
 *
 * @param ranks how many they are
 * @param memories the largest first
 * @param lids of the job's own, virtual addresses: each LID, and its ranks
 */
public record PlacementConstraints(int ranks, List<Memory> memories, Map<Integer, SortedSet<Integer>> lids) {
    private static final int SHOWN = 3;

    /** Memory that several ranks have mapped or open. @param name a path, or of which kind it is */
    public record Memory(String name, long bytes, SortedSet<Integer> ranks) {
        @Override
        public String toString() {
            return PlacementConstraints.ranks(ranks) + " share " + name + " (" + Durations.bytes(bytes) + ")";
        }
    }

    /** @throws IOException also where the image is damaged */
    public static PlacementConstraints of(NodeReader node, JobState job) throws IOException {
        JobImage image = ImageTables.readImage(node);
        String checkpoint = node.checkpoint().directory().getFileName().toString();
        ImageProcesses processes =
                new ImageProcesses(checkpoint, image.processes(), ImageTables.readRanks(node, image, job.span(node)));
        Map<Integer, SortedSet<Integer>> lids = new TreeMap<>();
        int total = job.layout().ranks();
        StateTables.readNode(node, job).addresses().forEach(
                endpoint -> lids.computeIfAbsent(endpoint.virtual().lid(), _ -> new TreeSet<>())
                        .add(endpoint.rank() % total)); // what ranks have started is theirs
        return new PlacementConstraints(job.span(node).count(), memories(image, processes), lids);
    }

    /** The largest first. */
    static List<Memory> memories(JobImage image, ImageProcesses processes) {
        Map<Integer, Integer> rankOf = new HashMap<>();
        image.processes()
                .forEach(process -> processes.rank(process).ifPresent(rank -> rankOf.put(process.pid(), rank)));
        Map<Long, SortedSet<Integer>> users = new HashMap<>();
        image.regions().stream().filter(region -> region.backing() != 0 && rankOf.containsKey(region.pid()))
                .forEach(region -> users.computeIfAbsent(region.backing(), _ -> new TreeSet<>())
                        .add(rankOf.get(region.pid())));
        Map<Long, Long> opened = new HashMap<>(); // open file -> its memory
        image.objects().stream().filter(OpenFile.class::isInstance).map(OpenFile.class::cast)
                .forEach(file -> opened.put(file.id(), file.backing()));
        image.descriptors().stream().filter(
                descriptor -> opened.getOrDefault(descriptor.object(), 0L) != 0 && rankOf.containsKey(descriptor.pid()))
                .forEach(descriptor -> users.computeIfAbsent(opened.get(descriptor.object()), _ -> new TreeSet<>())
                        .add(rankOf.get(descriptor.pid())));
        return image.objects().stream().filter(SharedMemory.class::isInstance).map(SharedMemory.class::cast)
                .filter(memory -> users.getOrDefault(memory.id(), new TreeSet<>()).size() > 1)
                .map(memory -> new Memory(name(memory), memory.size(), users.get(memory.id())))
                .sorted(Comparator.comparingLong(Memory::bytes).reversed()).toList();
    }

    private static String name(SharedMemory memory) {
        return switch (memory.kind()) {
            case NAMED_FILE, DISK_FILE, MOUNTED_FILE -> memory.path();
            case DELETED_FILE -> memory.path() + " (deleted)";
            case MEMFD, ANONYMOUS, SYSV -> (memory.kind().name().toLowerCase(Locale.ROOT) + " memory "
                    + Objects.requireNonNullElse(memory.path(), "")).strip();
        };
    }

    /**
     * {@code ranks 0 and 1 share /dev/shm/x (4.0 MiB); ranks 0 to 3 have LID 0x0001 in common;
     * all of them see each other's process ids}.
     */
    @Override
    public String toString() {
        List<String> words = new ArrayList<>(memories.stream().limit(SHOWN).map(Memory::toString).toList());
        if (memories.size() > SHOWN) {
            words.add("and " + (memories.size() - SHOWN) + " more of this kind");
        }
        lids.forEach((lid, owners) -> {
            if (owners.size() > 1) {
                words.add(ranks(owners) + " share LID 0x%04x".formatted(lid));
            }
        });
        words.add("all of them share process ids, by which one may read another's memory (CMA)");
        return String.join("; ", words);
    }

    /** {@code ranks 0, 1 and 3}, {@code ranks 0 to 7}. */
    static String ranks(SortedSet<Integer> ranks) {
        if (ranks.size() == 1) {
            return "rank " + ranks.first();
        }
        if (ranks.size() > 2 && ranks.last() - ranks.first() == ranks.size() - 1) {
            return "ranks " + ranks.first() + " to " + ranks.last();
        }
        return "ranks " + ranks.headSet(ranks.last()).stream().map(String::valueOf).collect(Collectors.joining(", "))
                + " and " + ranks.last();
    }
}
