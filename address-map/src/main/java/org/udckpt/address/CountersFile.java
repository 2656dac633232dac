package org.udckpt.address;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.udckpt.layout.Layout;
import org.udckpt.layout.Layout.CounterBlock;
import org.udckpt.layout.Layout.CountersHeader;

/**
 * The ranks' live counters in shared memory: made by the agent, written by the ranks, read by anyone, without asking.
 */
public final class CountersFile implements AutoCloseable {
    private static final int HEADER_BYTES = 4096;
    private static final long RANK_BYTES = (long) Layout.COUNTER_SLOTS * CounterBlock.SIZE;
    private static final long BYTES = HEADER_BYTES + Layout.RANKS_MOST * RANK_BYTES;

    /**
     * One rank's counters in this incarnation; all are counts of work requests, completions or look-ups since its
     * start. The meaning of each is in {@code udckpt.layout}. The ranks count only the exceptions besides all sends and
     * receives: rewrites are the sends to known peers, translations the receives from endpoints of the job, refused is
     * what was not received since it was from somebody else.
     */
    public record Counters(long udSends, long udRewrites, long udReceives, long udTranslations,
            long cacheMisses, long tableMisses, long unknownPeers, long addressHandles, long rcSends, long refused) {
        /** Counters of a process that has counted nothing. */
        public static final Counters NONE = new Counters(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

        /** The sum over several ranks. */
        public static Counters sum(List<Counters> all) {
            return all.stream().reduce(NONE, Counters::and);
        }

        private Counters and(Counters o) {
            return new Counters(udSends + o.udSends, udRewrites + o.udRewrites, udReceives + o.udReceives,
                    udTranslations + o.udTranslations, cacheMisses + o.cacheMisses,
                    tableMisses + o.tableMisses, unknownPeers + o.unknownPeers, addressHandles + o.addressHandles,
                    rcSends + o.rcSends,
                    refused + o.refused);
        }
    }

    private final Arena arena;
    private final MemorySegment memory;
    private final RankSpan span;
    /** Null: for reading only. */
    private final Path path;

    private CountersFile(Path path, Arena arena, MemorySegment memory, RankSpan span) {
        this.path = path;
        this.arena = arena;
        this.memory = memory;
        this.span = span;
    }

    /**
     * Makes the file, with room for all ranks that there can be; it must not exist. Memory is taken for those that the
     * agent begins with, and by others when they begin.
     *
     * @param span of the agent
     */
    public static CountersFile create(Path path, RankSpan span) throws IOException {
        Arena arena = Arena.ofShared();
        MemorySegment memory = SharedFile.create(path, BYTES,
                HEADER_BYTES + Math.min(span.count(), Layout.RANKS_MOST) * RANK_BYTES, arena);
        memory.set(JAVA_INT, CountersHeader.SLOTS, Layout.COUNTER_SLOTS);
        memory.set(JAVA_INT, CountersHeader.FIRST, span.first());
        memory.set(JAVA_INT, CountersHeader.COUNT, span.count());
        memory.set(JAVA_INT, CountersHeader.TOTAL, span.total());
        memory.set(JAVA_LONG, CountersHeader.LAYOUT_HASH, Layout.LAYOUT_HASH);
        memory.set(JAVA_LONG, CountersHeader.MAGIC, Layout.COUNTERS_MAGIC);
        return new CountersFile(path, arena, memory, span);
    }

    /** @throws IOException also where it is no such file, or shorter than one */
    public static CountersFile open(Path path) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory = SharedFile.open(path, BYTES, arena);
            SharedFile.check(path, memory, memory.get(JAVA_LONG, CountersHeader.MAGIC),
                    memory.get(JAVA_LONG, CountersHeader.LAYOUT_HASH), Layout.COUNTERS_MAGIC, Layout.LAYOUT_HASH);
            return new CountersFile(null, arena, memory,
                    new RankSpan(memory.get(JAVA_INT, CountersHeader.FIRST), memory.get(JAVA_INT, CountersHeader.COUNT),
                            memory.get(JAVA_INT, CountersHeader.TOTAL)));
        } catch (IOException e) {
            arena.close();
            throw e;
        } catch (IllegalArgumentException e) {
            arena.close();
            throw new IOException(path + ": not a counters file: " + e.getMessage(), e);
        }
    }

    /**
     * The places of all ranks that there have been in this incarnation are below this one. Each process of the job can
     * write here: a number that there cannot be is none.
     */
    private int places() {
        return Math.clamp(memory.get(JAVA_INT, CountersHeader.PLACES), 0, Layout.RANKS_MOST);
    }

    /**
     * A process of this number begins, at zero.
     *
     * @throws IndexOutOfBoundsException if it is another agent's, or there is no place for it;
     *     {@link UncheckedIOException} if there is no memory
     */
    public synchronized void begin(int rank) {
        int place = Objects.checkIndex(span.place(rank), Layout.RANKS_MOST);
        try {
            SharedFile.reserve(path, HEADER_BYTES + place * RANK_BYTES, RANK_BYTES); // zeros
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        memory.set(JAVA_INT, CountersHeader.PLACES, Math.max(places(), place + 1));
    }

    /**
     * The counters of each number that a process has had in this incarnation, or could have had below one, in ascending
     * order.
     */
    public List<Counters> all() {
        return IntStream.range(0, places()).mapToObj(this::at).toList();
    }

    /** The sum over all threads of a rank; zeros for one that has not begun. */
    public Counters of(int rank) {
        return span.owns(rank) && span.place(rank) < places() ? at(span.place(rank)) : Counters.NONE;
    }

    private Counters at(int place) {
        // The exceptions are read first, so that a count going on meanwhile cannot make a difference negative.
        long unknown = sum(place, CounterBlock.UNKNOWN_PEERS);
        long foreign = sum(place, CounterBlock.UD_FOREIGN);
        long sends = sum(place, CounterBlock.UD_SENDS);
        long receives = sum(place, CounterBlock.UD_RECEIVES);
        return new Counters(sends, Math.max(0, sends - unknown), receives, Math.max(0, receives - foreign),
                sum(place, CounterBlock.CACHE_MISSES), sum(place, CounterBlock.TABLE_MISSES),
                unknown, sum(place, CounterBlock.AH_CREATED), sum(place, CounterBlock.RC_SENDS),
                sum(place, CounterBlock.REFUSED));
    }

    @Override
    public void close() {
        arena.close();
    }

    private long sum(int place, int field) {
        long sum = 0;
        for (int slot = 0; slot < Layout.COUNTER_SLOTS; slot++) {
            sum += memory.get(JAVA_LONG, HEADER_BYTES + place * RANK_BYTES + (long) slot * CounterBlock.SIZE + field);
        }
        return sum;
    }
}
