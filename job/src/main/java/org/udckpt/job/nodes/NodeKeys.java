package org.udckpt.job.nodes;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.udckpt.address.KeyAuthority;
import org.udckpt.address.KeysFile;
import org.udckpt.address.RankSpan;

/**
 * Remote keys of ranks over nodes. In a first life each key is the device's own, so that nobody has to be asked for any but those that regions are given in place
 * of one that is taken. In later lives each node tells the pairs of its ranks once, before connections are made again, and given ones one by one.
 */
final class NodeKeys implements KeyAuthority {
    private static final String FILES = "keys.";
    /** Whoever names a given key has heard of it by the job's own network, which may be quicker than the tree is at its worst. */
    private static final Duration ON_ITS_WAY = Duration.ofSeconds(2);

    private final NodeFacts facts;
    private final RankSpan span;
    private final boolean first;

    /**
     * @param span  this node's ranks
     * @param first whether it is the job's first life
     */
    NodeKeys(NodeFacts facts, RankSpan span, boolean first) {
        this.facts = facts;
        this.span = span;
        this.first = first;
    }

    /** Tells the others what is in the files of this node's ranks, none of which runs yet, and for which processes below a rank there are such files. */
    void tellAll(Path runtimeDirectory) throws IOException {
        Map<String, String> all = new HashMap<>();
        span.ranks().forEach(rank -> all.put(name(rank), ""));
        Map<Integer, List<Integer>> below = new HashMap<>();
        try (Stream<Path> files = Files.list(runtimeDirectory)) {
            for (Path file : files.filter(each -> each.getFileName().toString().matches("keys\\.\\d+")).toList()) {
                int number = Integer.parseInt(file.getFileName().toString().substring(FILES.length()));
                all.put(name(number), text(KeysFile.read(file)));
                below.computeIfAbsent(number % span.total(), _ -> new ArrayList<>()).add(number);
            }
        }
        span.ranks().forEach(rank -> all.put(below(rank), below.getOrDefault(rank, List.of()).toString()));
        facts.put(all);
    }

    private static String text(long[] pairs) {
        ByteBuffer bytes = ByteBuffer.allocate(8 * pairs.length);
        bytes.asLongBuffer().put(pairs);
        return Base64.getEncoder().encodeToString(bytes.array());
    }

    private static long[] pairs(String text) {
        ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(text));
        long[] pairs = new long[bytes.capacity() / 8];
        bytes.asLongBuffer().get(pairs);
        return pairs;
    }

    @Override
    public void tell(int rank, int virtualKey, int realKey) {
        facts.put(Map.of(name(rank, virtualKey), Integer.toUnsignedString(realKey)));
    }

    /** What is asked for so that {@link #of} need not ask. */
    Set<String> names(Collection<Integer> ranks) {
        return first ? Set.of() : ranks.stream().filter(rank -> !span.owns(rank)).map(NodeKeys::name).collect(Collectors.toSet());
    }

    /** A process that had no device when the others were told has only keys that are its device's, or that it tells. */
    @Override
    public Optional<long[]> of(int number) {
        if (span.owns(number)) {
            return Optional.empty();
        }
        if (first) {
            return Optional.of(new long[0]);
        }
        Optional<String> told = facts.get(name(number), Duration.ZERO);
        if (told.isEmpty()) {
            String below = facts.get(below(number % span.total()), ON_ITS_WAY).orElseThrow(() -> new IllegalStateException("no node has told the remote keys of rank " + number));
            if (number < span.total() || List.of(below.substring(1, below.length() - 1).split(", ")).contains(Integer.toString(number))) {
                told = Optional.of(facts.get(name(number), ON_ITS_WAY).orElseThrow(() -> new IllegalStateException("no node has told the remote keys of rank " + number)));
            }
        }
        return Optional.of(told.map(NodeKeys::pairs).orElse(new long[0]));
    }

    @Override
    public OptionalInt find(int rank, int virtualKey) {
        return facts.get(name(rank, virtualKey), ON_ITS_WAY).map(real -> OptionalInt.of(Integer.parseUnsignedInt(real))).orElse(OptionalInt.empty());
    }

    private static String name(int rank) {
        return "keys of rank " + rank;
    }

    private static String below(int rank) {
        return "processes with keys at rank " + rank;
    }

    private static String name(int rank, int virtualKey) {
        return "key 0x%x of rank %d".formatted(virtualKey, rank);
    }
}
