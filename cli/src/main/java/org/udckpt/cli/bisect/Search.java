package org.udckpt.cli.bisect;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.udckpt.cli.bisect.ProbeResult.Truth;

/** Looks for the first of several checkpoints, in the order in which they were taken, of which something is true. */
public final class Search {
    /**
     * What was found, by the checkpoints' places.
     *
     * @param firstTrue -1: none was found that is
     * @param lastFalse the last before it of which it is known that it is not true; -1: none
     * @param asked all that were looked at
     */
    public record Found(int firstTrue, int lastFalse, Map<Integer, ProbeResult> asked) {
        /** Whether the checkpoint just before the first one is known. */
        boolean exact() {
            return firstTrue == 0 || firstTrue > 0 && lastFalse == firstTrue - 1;
        }
    }

    private final int count;
    private final IntFunction<ProbeResult> question;
    private final Map<Integer, ProbeResult> asked = new TreeMap<>();

    /** @param question asked once at most of each of {@code count} checkpoints */
    public Search(int count, IntFunction<ProbeResult> question) {
        this.count = count;
        this.question = question;
    }

    /** Each of them: right also for what does not stay true. */
    public Found every() {
        IntStream.range(0, count).forEach(this::ask);
        return between(-1, IntStream.range(0, count).filter(place -> ask(place) == Truth.TRUE).findFirst().orElse(-1));
    }

    /** By halves, which takes for granted that it stays true. Those of which it is not known are passed over. */
    public Found byHalves() {
        int end = count - 1;
        while (end >= 0 && ask(end) == Truth.UNKNOWN) {
            end--;
        }
        if (end < 0 || ask(end) == Truth.FALSE) {
            return new Found(-1, end, asked);
        }
        int before = -1;
        for (int next = 0; next >= 0; next = middle(before, end)) {
            switch (ask(next)) {
                case TRUE -> end = next;
                case FALSE -> before = next;
                case UNKNOWN -> {
                }
            }
        }
        return between(before, end);
    }

    private Found between(int before, int firstTrue) {
        int lastFalse = IntStream.range(Math.max(before, 0), Math.max(firstTrue, 0))
                .filter(place -> asked.containsKey(place) && ask(place) == Truth.FALSE).max().orElse(-1);
        return new Found(firstTrue, lastFalse, asked);
    }

    /** The checkpoint nearest to the middle between the two that was not asked yet; -1: all were. */
    private int middle(int before, int end) {
        int middle = (before + end) >>> 1;
        return IntStream.range(before + 1, end).filter(place -> !asked.containsKey(place)).boxed()
                .min(java.util.Comparator.comparingInt(place -> Math.abs(place - middle))).orElse(-1);
    }

    private Truth ask(int place) {
        return asked.computeIfAbsent(place, question::apply).truth();
    }
}
