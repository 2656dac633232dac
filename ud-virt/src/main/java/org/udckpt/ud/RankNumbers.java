package org.udckpt.ud;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.udckpt.address.RankSpan;
import org.udckpt.layout.Layout;

/**
 * Which number each process of the job has that has opened a device: its rank, for counters, endpoints, remote keys,
 * and people. Below a rank of {@code run -n} the first such process has that rank's number. Others have what their MPI
 * launcher calls them where that is free, else the lowest free number of their agent's ({@link RankSpan}). It stays
 * theirs over restarts, and is free again when they have ended. Thread-safe.
 */
public final class RankNumbers {
    /**
     * A process that has a number.
     *
     * @param pid     in the job's pid namespace
     * @param mpiRank what its MPI launcher calls it, or -1
     */
    public record Rank(int number, int pid, int mpiRank) {}

    /**
     * Hears that a number is another program's from now on, before that one is told it: what is left of the last one is
     * to go.
     */
    @FunctionalInterface
    public interface Taken {
        void by(Rank rank);
    }

    /** A number, with the connections that show that its process is there; a restored process has none at first. */
    private static final class Holder {
        Rank rank;
        int connections;
        boolean expected;
    }

    private final RankSpan span;
    private final int reserved;
    private final IntPredicate alive;
    private final Taken taken;
    private final TreeMap<Integer, Holder> holders = new TreeMap<>();

    /**
     * @param span of the agent: its processes get the numbers that are its
     * @param reserved numbers from 0 on that only processes below the ranks of {@code run -n} get; 0 where there are
     *     none
     * @param alive whether a process of the job has this pid: one may have lost its connection and still use its device
     */
    public RankNumbers(RankSpan span, int reserved, IntPredicate alive, Taken taken) {
        this.span = span;
        this.reserved = reserved;
        this.alive = alive;
        this.taken = taken;
    }

    /**
     * Reserves the numbers of the ranks of the checkpoint that the job is restarted from, until they report themselves.
     */
    public synchronized void expect(List<Rank> restored) {
        for (Rank rank : restored) {
            Holder holder = new Holder();
            holder.rank = rank;
            holder.expected = true;
            holders.put(rank.number(), holder);
        }
    }

    /** The processes that have a number now, ascending. */
    public synchronized List<Rank> all() {
        List<Rank> all = new ArrayList<>();
        holders.values().stream().filter(holder -> holder.expected || holder.connections > 0)
                .forEach(holder -> all.add(holder.rank));
        return all;
    }

    /**
     * A number for a process that opens its first device, which holds it until {@link #release}.
     *
     * @param tree    the rank of {@code run -n} below which it is, or -1
     * @param mpiRank what its MPI launcher calls it, or -1
     * @return empty when {@link Layout#RANKS_MOST} are in use
     */
    synchronized OptionalInt claim(int tree, int pid, int mpiRank) {
        OptionalInt number = choose(tree, pid, mpiRank);
        if (number.isPresent()) {
            Holder holder = holders.computeIfAbsent(number.getAsInt(), _ -> new Holder());
            boolean itself = holder.rank != null && holder.rank.pid() == pid;
            holder.rank = new Rank(number.getAsInt(), pid, mpiRank);
            holder.connections = (itself ? holder.connections : 0) + 1;
            holder.expected = false;
            taken.by(holder.rank);
        }
        return number;
    }

    private OptionalInt choose(int tree, int pid, int mpiRank) {
        for (Holder holder : holders.values()) {
            if (holder.rank.pid() == pid) {
                return OptionalInt.of(holder.rank.number()); // it has executed another program
            }
        }
        int wish = tree >= 0 ? tree : mpiRank;
        if (wish >= (tree >= 0 ? 0 : reserved) && span.owns(wish) && span.place(wish) < Layout.RANKS_MOST
                && free(wish)) {
            return OptionalInt.of(wish);
        }
        return IntStream.range(0, Layout.RANKS_MOST).map(span::number)
                .filter(number -> number >= reserved && span.owns(number) && free(number)).findFirst();
    }

    private boolean free(int number) {
        Holder holder = holders.get(number);
        return holder == null || !holder.expected && holder.connections == 0 && !alive.test(holder.rank.pid());
    }

    /** A connection of a process that says which number it has. False: it is another one's. */
    synchronized boolean hold(Rank rank) {
        Holder holder = holders.computeIfAbsent(rank.number(), _ -> new Holder());
        if (holder.rank != null && holder.rank.pid() != rank.pid()) {
            return false;
        }
        holder.rank = rank;
        holder.expected = false;
        holder.connections++;
        return true;
    }

    /**
     * The end of a connection that {@link #claim} or {@link #hold} was told of; whoever has the number now keeps it.
     */
    synchronized void release(int number, int pid) {
        Holder holder = holders.get(number);
        if (holder != null && holder.rank.pid() == pid && holder.connections > 0) {
            holder.connections--;
        }
    }
}
