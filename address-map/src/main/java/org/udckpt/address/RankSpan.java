package org.udckpt.address;

import java.util.stream.IntStream;
import org.udckpt.layout.Layout;

/**
 * The ranks that one agent has of its job's: {@code first} to {@code first + count - 1} of 0 to {@code total - 1}. A
 * job of one agent has all of them.
 *
 * <p>Processes below ranks that open a device of their own are numbered from {@code total} on, without asking other
 * nodes: a number is an agent's if its remainder by {@code total} is the number of one of its ranks. The agent's
 * numbers in ascending order have the places 0, 1, ...; with all ranks, place and number are the same.
 *
 * @param total of the whole job; less than {@link #MOST_NUMBERS}
 */
public record RankSpan(int first, int count, int total) {
    /** A number has 24 bits in the translation table. */
    public static final int MOST_NUMBERS = 1 << 24;

    public RankSpan {
        if (first < 0 || count < 1 || total > MOST_NUMBERS || first > total - count) {
            throw new IllegalArgumentException(count + " ranks from rank " + first + " on, in a job of " + total);
        }
    }

    /** One agent has them all. */
    public static RankSpan all(int ranks) {
        return new RankSpan(0, ranks, ranks);
    }

    /**
     * The first rank alone, which stands for all of them: still that of an agent with all, or that of one of several.
     */
    public RankSpan leader() {
        return isAll() ? all(1) : new RankSpan(first, 1, total);
    }

    /** Whether the job has no ranks elsewhere. */
    public boolean isAll() {
        return count == total;
    }

    /** Whether this rank of {@code run -n} is the agent's. */
    public boolean has(int rank) {
        return rank >= first && rank < end();
    }

    /** The number behind the last rank's. */
    public int end() {
        return first + count;
    }

    /** The ranks' numbers, ascending. */
    public IntStream ranks() {
        return IntStream.range(first, end());
    }

    /**
     * The rank's place in what is kept for each, 0 to {@code count - 1}.
     *
     * @throws IndexOutOfBoundsException if it is another agent's
     */
    public int index(int rank) {
        if (!has(rank)) {
            throw new IndexOutOfBoundsException("rank " + rank + " is not of " + this);
        }
        return rank - first;
    }

    /** Whether a process of the agent can have this number, or its rank has. */
    public boolean owns(int number) {
        return number >= 0 && number < MOST_NUMBERS && has(number % total);
    }

    /**
     * The place of a number that it {@link #owns}; may be more than the counters have room for
     * ({@link Layout#RANKS_MOST}).
     */
    public int place(int number) {
        if (!owns(number)) {
            throw new IndexOutOfBoundsException("number " + number + " is not of " + this);
        }
        return number / total * count + index(number % total);
    }

    /** The number of a place; at least {@link #MOST_NUMBERS} if the agent has no more. */
    public int number(int place) {
        return (int) Math.min(MOST_NUMBERS, (long) (place / count) * total + first + place % count);
    }

    @Override
    public String toString() {
        return count == 1 ? "rank " + first + " of " + total : "ranks " + first + " to " + (end() - 1) + " of " + total;
    }
}
