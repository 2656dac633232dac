package org.udckpt.cluster;

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
 * Remote keys of ranks over nodes. In a first incarnation each key is the device's own, so that nobody has to be asked
 * for any but those that regions are given in place of one that is taken. In later incarnations each node tells the
 * pairs of its ranks once, before connections are made again, and given ones one by one.
 */
final class NodeKeys implements KeyAuthority {
    private static final String FILES = "keys.";
    /**
     * Whoever names a given key has heard of it by the job's own network, which may be quicker than the tree is at its
     * worst.
     */
    private static final Duration ON_ITS_WAY = Duration.ofSeconds(2);

    private final NodeFacts facts;
    private final NodeJob job;
    private final RankSpan span;

    /** @param span this node's ranks */
    NodeKeys(NodeFacts facts, NodeJob job, RankSpan span) {
        this.facts = facts;
        this.job = job;
        this.span = span;
    }

    /**
     * Tells the others what is in the files of this node's ranks and the processes below them, none of which runs yet,
     * and which of them have such files: so a job without connections over devices that need it tells one line for each
     * unit, and nothing for each rank.
     */
    void tellAll(Path runtimeDirectory) throws IOException {
        Map<String, String> all = new HashMap<>();
        List<Integer> numbers = new ArrayList<>();
        try (Stream<Path> files = Files.list(runtimeDirectory)) {
            for (Path file : files.filter(each -> each.getFileName().toString().matches("keys\\.\\d+")).toList()) {
                int number = Integer.parseInt(file.getFileName().toString().substring(FILES.length()));
                all.put(name(number), text(KeysFile.read(file)));
                numbers.add(number);
            }
        }
        all.put(numbers(span.first()), numbers.stream().map(String::valueOf).collect(Collectors.joining(" ")));
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

    /** The names to fetch in advance, so that {@link #of} need not ask. */
    Set<String> names(Collection<Integer> ranks) {
        return isFirst() ? Set.of()
                : ranks.stream().filter(rank -> !span.owns(rank)).map(NodeKeys::name).collect(Collectors.toSet());
    }

    private boolean isFirst() {
        return job.image() == null;
    }

    /** A process that had no device when the others were told has only keys that are its device's, or that it tells. */
    @Override
    public Optional<long[]> of(int number) {
        if (number < 0 || span.owns(number)) {
            return Optional.empty();
        }
        if (isFirst()) {
            return Optional.of(new long[0]);
        }
        Optional<String> told = facts.get(name(number), Duration.ZERO);
        if (told.isEmpty()
                && List.of(told(numbers(firstOf(number)), number).split(" ")).contains(Integer.toString(number))) {
            told = Optional.of(told(name(number), number));
        }
        try {
            return Optional.of(told.map(NodeKeys::pairs).orElse(new long[0]));
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException("a node's answer about the remote keys of rank " + number
                    + " is malformed: " + e.getMessage(), e);
        }
    }

    private String told(String name, int number) {
        return facts.get(name, ON_ITS_WAY).orElseThrow(() -> new IllegalStateException("no node knows the remote "
                + "keys of rank " + number));
    }

    /** First rank of the unit that has a process of this number. */
    private int firstOf(int number) {
        return job.units().stream().filter(unit -> unit.has(number % span.total())).findFirst().orElseThrow().first();
    }

    @Override
    public OptionalInt find(int rank, int virtualKey) {
        String name = name(rank, virtualKey);
        return facts.get(name, ON_ITS_WAY).map(real -> NodeFacts.number(name, real)).map(OptionalInt::of)
                .orElse(OptionalInt.empty());
    }

    private static String name(int rank) {
        return "keys of rank " + rank;
    }

    private static String numbers(int first) {
        return "processes with remote keys of the unit of rank " + first;
    }

    private static String name(int rank, int virtualKey) {
        return "key 0x%x of rank %d".formatted(virtualKey, rank);
    }
}
