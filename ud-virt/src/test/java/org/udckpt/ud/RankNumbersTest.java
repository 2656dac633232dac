package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.address.RankSpan;
import org.udckpt.layout.Layout;
import org.udckpt.ud.RankNumbers.Rank;

@Timeout(60)
class RankNumbersTest {
    private final Set<Integer> alive = new HashSet<>();
    private final List<Rank> taken = new ArrayList<>();

    private RankNumbers numbers(int reserved) {
        return new RankNumbers(RankSpan.all(Math.max(1, reserved)), reserved, alive::contains, taken::add);
    }

    private static OptionalInt is(int number) {
        return OptionalInt.of(number);
    }

    @Test
    void agentsGiveDifferentNumbersWithoutAskingEachOther() {
        RankNumbers first = new RankNumbers(new RankSpan(0, 2, 6), 6, alive::contains, taken::add);
        RankNumbers second = new RankNumbers(new RankSpan(2, 4, 6), 6, alive::contains, taken::add);
        assertEquals(is(1), first.claim(1, 11, -1));
        assertEquals(is(5), second.claim(5, 11, -1));
        assertEquals(is(6), first.claim(1, 12, -1), "below a rank whose number is taken");
        assertEquals(is(7), first.claim(5, 13, -1), "another agent's rank");
        assertEquals(is(12), first.claim(1, 14, 9), "its launcher's number is another agent's");
        assertEquals(is(8), second.claim(5, 12, -1));
        assertEquals(is(9), second.claim(5, 13, 9));
        assertEquals(is(10), second.claim(5, 14, -1));
    }

    @Test
    void anMpiLaunchersRanksKeepItsNumbers() {
        RankNumbers tree = numbers(0);
        assertEquals(is(1), tree.claim(-1, 101, 1));
        assertEquals(is(0), tree.claim(-1, 100, 0));
        assertEquals(is(2), tree.claim(-1, 102, 0), "a second launcher beside the first: the lowest that is free");
        assertEquals(is(3), tree.claim(-1, 103, -1));
        assertEquals(List.of(new Rank(0, 100, 0), new Rank(1, 101, 1), new Rank(2, 102, 0), new Rank(3, 103, -1)),
                tree.all());
    }

    @Test
    void belowARankTheFirstProcessHasItsNumber() {
        RankNumbers ranks = numbers(4);
        assertEquals(is(3), ranks.claim(3, 100, 3));
        assertEquals(is(4), ranks.claim(3, 101, 3), "a helper of rank 3");
        assertEquals(is(5), ranks.claim(-1, 102, 0),
                "a script has removed UDCKPT_RANK: no rank's number is taken away");
        assertEquals(is(0), ranks.claim(0, 103, 0));
    }

    @Test
    void aNumberIsFreeWhenItsProcessHasEndedAndNotBefore() {
        RankNumbers tree = numbers(0);
        assertEquals(is(0), tree.claim(-1, 100, 0));
        assertTrue(tree.hold(new Rank(0, 100, 0)));
        tree.release(0, 100);
        assertEquals(is(1), tree.claim(-1, 101, 0), "one connection of two has ended");
        tree.release(0, 100);
        alive.add(100); // it has closed its descriptors, and goes on sending
        assertEquals(is(2), tree.claim(-1, 102, 0));
        alive.clear();
        assertEquals(is(0), tree.claim(-1, 103, 0));
        assertEquals(new Rank(0, 103, 0), taken.getLast());
        tree.release(0, 100); // late news of the process before
        assertEquals(new Rank(0, 103, 0), tree.all().getFirst());
    }

    @Test
    void whoExecutesAnotherProgramKeepsItsNumber() {
        RankNumbers tree = numbers(0);
        assertEquals(is(0), tree.claim(-1, 100, -1));
        assertEquals(is(0), tree.claim(-1, 100, -1));
        assertEquals(2, taken.size(), "what the first program had is gone");
        tree.release(0, 100);
        assertEquals(1, tree.all().size());
    }

    @Test
    void restoredProcessesKeepTheirNumbers() {
        RankNumbers tree = numbers(0);
        tree.expect(List.of(new Rank(1, 101, 1)));
        assertEquals(is(0), tree.claim(-1, 200, 1));
        assertFalse(tree.hold(new Rank(1, 102, 1)), "another process says so");
        assertTrue(tree.hold(new Rank(1, 101, 1)));
        assertEquals(List.of(new Rank(0, 200, 1), new Rank(1, 101, 1)), tree.all());
        assertEquals(List.of(new Rank(0, 200, 1)), taken, "the endpoints and counters of a restored process stay");
    }

    @Test
    void thereIsAnEnd() {
        RankNumbers tree = numbers(0);
        IntStream.range(0, Layout.RANKS_MOST).forEach(pid -> tree.claim(-1, pid + 1, -1));
        assertEquals(OptionalInt.empty(), tree.claim(-1, 1 << 20, 5));
    }
}
