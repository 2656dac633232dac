package org.udckpt.coordination.lookup;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.udckpt.address.AddressBatch;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.TreeNode;

/**
 * One node's part in the exchange of a table. Entries go up to the root; what a node needs is asked of its parent,
 * which asks further only for what neither it nor anything below it knows, once for all who asked; answers stay on the
 * caches that they pass. The first entries and asks wait until all of a node's subtree has said what it has and needs,
 * so that they go up in few large messages; later ones go at once.
 */
public final class TableResolver {
    /** Half a megabyte: a larger ask goes in several messages. */
    static final int KEYS_OF_A_MESSAGE = 1 << 16;
    private static final byte ENTRIES = 1, ASK = 2, COMPLETE = 3, ANSWER = 4, REFUSED = 5;
    private static final int MOST_REFUSED_BYTES = 4096;

    /** The node's own ranks, as the exchange sees them. */
    public interface Local {
        /**
         * EXCHANGE has begun: {@link TableResolver#register} and {@link TableResolver#ask} what there is, then
         * {@link TableResolver#complete}. At once or later.
         */
        void begin(long now);

        /** What {@link TableResolver#ask} wanted is on the cache. @param absent keys that nobody in the job has */
        void answered(int number, long[] absent, long now);

        /** Entries of this node or one beside or below it were not taken. @param why naming them */
        void refused(String why, long now);
    }

    /** Keys that a node has asked for. */
    private record Lookup(int from, int number, long[] keys) {}

    /** Lookups that wait for answers from above, and how many answers are to come. */
    private static final class PendingLookup {
        final List<Lookup> lookups;
        int open;

        PendingLookup(List<Lookup> lookups, int open) {
            this.lookups = lookups;
            this.open = open;
        }
    }

    private final byte channel;
    private final TreeNode treeNode;
    private final TableCache cache;
    private final Local local;
    /** Nodes right below, and this one, that have not said all yet. */
    private final Set<Integer> incomplete;
    private final List<Lookup> queue = new ArrayList<>();
    private final Map<Integer, PendingLookup> pendingLookups = new HashMap<>();
    /** By number, what was asked of the node above and is not answered: to be asked again of another one. */
    private final Map<Integer, long[]> asked = new HashMap<>();
    /** Keys of what this node and those below it have said: goes up when all have, and again to another node above. */
    private final List<long[]> below = new ArrayList<>();
    /** No node is below: there is nothing to gather. */
    private final boolean leaf;
    private final MessageCounts traffic = new MessageCounts();
    private int lastNumber;

    /** @param channel the first byte of its messages */
    public TableResolver(byte channel, TreeNode treeNode, TableCache cache, Local local) {
        this.channel = channel;
        this.treeNode = treeNode;
        this.cache = cache;
        this.local = local;
        this.incomplete = new HashSet<>(treeNode.children());
        incomplete.add(treeNode.self());
        this.leaf = incomplete.size() == 1;
    }

    public void begin(long now) {
        local.begin(now);
    }

    /**
     * Entries of this node's own ranks, as the cache takes them.
     *
     * @throws IllegalArgumentException if it does not take all of them; the others count
     */
    public void register(byte[] entries, long now) {
        try {
            keep(entries, now);
        } catch (RefusedEntries e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        } catch (MalformedMessage e) {
            throw new IllegalArgumentException("entries of this node: " + e.getMessage(), e);
        }
    }

    /**
     * Wants entries on the cache.
     *
     * @param keys in any order
     * @return the number with which {@link Local#answered} will tell, perhaps at once
     */
    public int ask(long[] keys, long now) {
        int number = ++lastNumber;
        lookup(new Lookup(treeNode.self(), number, sorted(keys)), now);
        return number;
    }

    /** What this node's ranks are was registered, and what they need at first was asked. */
    public void complete(long now) {
        complete(treeNode.self(), now);
    }

    /** Bytes of keys that wait for answers. */
    public long waitingBytes() {
        long lookups = queue.stream().mapToLong(w -> w.keys.length).sum()
                + pendingLookups.values().stream().distinct().flatMap(e -> e.lookups.stream())
                        .mapToLong(w -> w.keys.length).sum();
        return 8 * (lookups + asked.values().stream().mapToLong(keys -> keys.length).sum());
    }

    /** Messages of this node in this exchange. */
    public MessageCounts traffic() {
        return traffic;
    }

    /** A neighbour's message, behind its channel. */
    public void received(int from, ByteBuffer message, long now) throws MalformedMessage {
        traffic.receive();
        try {
            byte kind = message.get();
            if (from == treeNode.parent() != (kind == ANSWER || kind == REFUSED)) {
                throw new MalformedMessage("a table's message of kind " + kind + " from node " + from + ", which is "
                        + (from == treeNode.parent() ? "above" : "below"));
            }
            switch (kind) {
                case ENTRIES -> {
                    try {
                        keep(rest(message), now);
                    } catch (RefusedEntries e) {
                        refuse(from, e.getMessage().getBytes(StandardCharsets.UTF_8), now);
                    }
                }
                case REFUSED -> {
                    byte[] why = rest(message);
                    treeNode.children().forEach(child -> refuse(child, why, now)); // who put them is not kept
                    local.refused(new String(why, StandardCharsets.UTF_8), now);
                }
                case ASK -> {
                    int number = message.getInt();
                    lookup(new Lookup(from, number, AddressBatch.keys(rest(message))), now);
                }
                case COMPLETE -> complete(from, now);
                case ANSWER -> {
                    int number = message.getInt();
                    boolean last = message.get() != 0;
                    if (message.hasRemaining()) {
                        try {
                            cache.add(rest(message));
                        } catch (RefusedEntries e) {
                            local.refused(e.getMessage(), now);
                        }
                    }
                    if (last) {
                        answered(number, now);
                    }
                }
                default -> throw new MalformedMessage("a table's message of kind " + kind);
            }
        } catch (BufferUnderflowException | IOException e) {
            throw new MalformedMessage("a table's message of " + message.limit() + " bytes: " + e.getMessage(), e);
        }
    }

    /** A child is lost: nobody waits for what it has to say. */
    public void lost(int node, long now) {
        if (incomplete.contains(node)) {
            complete(node, now);
        }
    }

    /**
     * There is another node above, which has what is below it: what was said to the one before, and asked of it, is
     * said again.
     */
    public void attached(long now) {
        if (leaf || incomplete.isEmpty()) {
            allUp(now);
        }
        asked.forEach((number, keys) -> up(number, keys, now));
        if (incomplete.isEmpty()) {
            post(treeNode.parent(), message(COMPLETE, 0), now);
        }
    }

    private void keep(byte[] entries, long now) throws MalformedMessage, RefusedEntries {
        try {
            taken(cache.add(entries), List.of(entries), now);
        } catch (RefusedEntries e) {
            long[] keys = sorted(e.taken());
            taken(keys, keys.length == 0 ? List.of() : cache.find(keys), now);
            throw e;
        }
    }

    private void taken(long[] keys, List<byte[]> entries, long now) {
        if (treeNode.parent() >= 0) {
            below.add(keys);
            if (leaf || incomplete.isEmpty()) {
                entries.forEach(some -> entriesUp(some, now));
            }
        }
    }

    private void allUp(long now) {
        long[] keys = sorted(below.stream().flatMapToLong(Arrays::stream).toArray());
        if (keys.length > 0) {
            cache.find(keys).forEach(entries -> entriesUp(entries, now));
        }
    }

    private void refuse(int to, byte[] why, long now) {
        byte[] text = Arrays.copyOf(why, Math.min(why.length, MOST_REFUSED_BYTES));
        post(to, message(REFUSED, text.length).put(text), now);
    }

    private static long[] sorted(long[] keys) {
        return LongStream.of(keys).sorted().distinct().toArray();
    }

    private void entriesUp(byte[] entries, long now) {
        post(treeNode.parent(), message(ENTRIES, entries.length).put(entries), now);
    }

    private void lookup(Lookup lookup, long now) {
        if (incomplete.isEmpty()) {
            serve(List.of(lookup), now);
        } else {
            queue.add(lookup);
        }
    }

    private void complete(int node, long now) {
        if (!incomplete.remove(node) || !incomplete.isEmpty()) {
            return;
        }
        if (!leaf) { // whose entries have gone up at once
            allUp(now);
        }
        List<Lookup> first = List.copyOf(queue);
        queue.clear();
        serve(first, now);
        if (treeNode.parent() >= 0) {
            post(treeNode.parent(), message(COMPLETE, 0), now);
        }
    }

    /**
     * Answers what can be answered here, and asks above for all the rest together. The root's cache holds all that
     * there is.
     */
    private void serve(List<Lookup> lookups, long now) {
        long[] missing = treeNode.parent() < 0 ? new long[0]
                : cache.missing(lookups.stream().flatMapToLong(lookup -> Arrays.stream(lookup.keys)).sorted().distinct()
                        .toArray());
        if (missing.length == 0) {
            lookups.forEach(lookup -> answer(lookup, now));
            return;
        }
        int messages = (missing.length + KEYS_OF_A_MESSAGE - 1) / KEYS_OF_A_MESSAGE;
        PendingLookup pending = new PendingLookup(lookups, messages);
        for (int i = 0; i < messages; i++) {
            long[] keys = Arrays.copyOfRange(missing, i * KEYS_OF_A_MESSAGE,
                    Math.min(missing.length, (i + 1) * KEYS_OF_A_MESSAGE));
            int number = ++lastNumber;
            pendingLookups.put(number, pending);
            asked.put(number, keys);
            up(number, keys, now);
        }
    }

    private void up(int number, long[] keys, long now) {
        byte[] batch = AddressBatch.keys(keys);
        post(treeNode.parent(), message(ASK, 4 + batch.length).putInt(number).put(batch), now);
    }

    private void answered(int number, long now) {
        asked.remove(number);
        PendingLookup pending = pendingLookups.remove(number);
        if (pending != null && --pending.open == 0) { // null: answered by two, the old and the new node above
            pending.lookups.forEach(lookup -> answer(lookup, now));
        }
    }

    private void answer(Lookup lookup, long now) {
        if (lookup.from == treeNode.self()) {
            local.answered(lookup.number, cache.missing(lookup.keys), now);
            return;
        }
        List<byte[]> entries = cache.find(lookup.keys);
        for (int i = 0; i < Math.max(1, entries.size()); i++) {
            byte[] batch = entries.isEmpty() ? new byte[0] : entries.get(i);
            boolean last = i >= entries.size() - 1;
            post(lookup.from,
                    message(ANSWER, 5 + batch.length).putInt(lookup.number).put((byte) (last ? 1 : 0)).put(batch), now);
        }
    }

    private ByteBuffer message(byte kind, int bytes) {
        return ByteBuffer.allocate(2 + bytes).put(channel).put(kind);
    }

    private void post(int to, ByteBuffer message, long now) {
        traffic.send();
        treeNode.post(to, message.array(), now);
    }

    private static byte[] rest(ByteBuffer message) {
        byte[] rest = new byte[message.remaining()];
        message.get(rest);
        return rest;
    }
}
