package org.udckpt.job.nodes;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.udckpt.address.KeyAuthority;
import org.udckpt.address.KeysFile;
import org.udckpt.address.RankSpan;

/**
 * Remote keys of ranks over nodes. In a first life, with one device in a process, each key is the device's own, so that nobody has to be asked. In later
 * lives each node tells the pairs of its ranks once, before connections are made again, and those that are given in the midst of a life one by one.
 */
final class NodeKeys implements KeyAuthority {
    private static final String FILES = "keys.";

    private final NodeFacts facts;
    private final RankSpan span;
    private final boolean first;
    private final boolean several;

    /**
     * @param span    this node's ranks
     * @param first   whether it is the job's first life
     * @param several whether processes may have several devices, whose keys can be alike
     */
    NodeKeys(NodeFacts facts, RankSpan span, boolean first, boolean several) {
        this.facts = facts;
        this.span = span;
        this.first = first;
        this.several = several;
    }

    /** Tells the others what is in the files of this node's ranks, none of which runs yet. */
    void tellAll(Path runtimeDirectory) throws IOException {
        Map<String, String> all = new HashMap<>();
        try (Stream<Path> files = Files.list(runtimeDirectory)) {
            for (Path file : files.filter(each -> each.getFileName().toString().startsWith(FILES)).toList()) {
                int rank = Integer.parseInt(file.getFileName().toString().substring(FILES.length()));
                ByteBuffer pairs = ByteBuffer.wrap(new byte[8 * KeysFile.MOST]);
                for (long pair : KeysFile.read(file)) {
                    pairs.putLong(pair);
                }
                all.put(name(rank), Base64.getEncoder().encodeToString(java.util.Arrays.copyOf(pairs.array(), pairs.position())));
            }
        }
        facts.put(all);
    }

    @Override
    public void tell(int rank, int virtualKey, int realKey) {
        facts.put(Map.of(name(rank, virtualKey), Integer.toUnsignedString(realKey)));
    }

    @Override
    public Optional<KeysFile.Pairs> of(int rank) {
        if (span.owns(rank)) {
            return Optional.empty();
        }
        if (first) {
            return Optional.of(new KeysFile.Pairs(new long[0], several));
        }
        return Optional.of(new KeysFile.Pairs(facts.get(name(rank)).map(NodeKeys::pairs).orElse(new long[0]), true));
    }

    private static long[] pairs(String text) {
        ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(text));
        long[] pairs = new long[bytes.capacity() / 8];
        bytes.asLongBuffer().get(pairs);
        return pairs;
    }

    @Override
    public OptionalInt find(int rank, int virtualKey) {
        return facts.get(name(rank, virtualKey)).map(real -> OptionalInt.of(Integer.parseUnsignedInt(real))).orElse(OptionalInt.empty());
    }

    private static String name(int rank) {
        return "keys of rank " + rank;
    }

    private static String name(int rank, int virtualKey) {
        return "key 0x%x of rank %d".formatted(virtualKey, rank);
    }
}
