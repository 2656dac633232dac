package org.udckpt.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(10)
class RankSpanTest {
    private final List<RankSpan> agents =
            List.of(new RankSpan(0, 3, 10), new RankSpan(3, 1, 10), new RankSpan(4, 6, 10));

    @Test
    void eachNumberIsOfOneAgent() {
        for (int number = 0; number < 100; number++) {
            int of = number;
            assertEquals(1, agents.stream().filter(span -> span.owns(of)).count());
        }
        agents.forEach(span -> assertFalse(span.owns(-1)));
    }

    @Test
    void placesAndNumbersAreEachOthersInverse() {
        for (RankSpan span : agents) {
            for (int place = 0; place < 100; place++) {
                assertTrue(span.owns(span.number(place)));
                assertEquals(place, span.place(span.number(place)));
            }
        }
        assertEquals(List.of(4, 5, 6, 7, 8, 9, 14, 15),
                IntStream.range(0, 8).map(agents.get(2)::number).boxed().toList());
    }

    @Test
    void ofAllRanksPlacesAreNumbers() {
        RankSpan all = RankSpan.all(10);
        assertTrue(all.isAll());
        IntStream.range(0, 100).forEach(number -> assertEquals(number, all.place(number)));
    }

    @Test
    void theFirstStandsForAllOfItsAgent() {
        assertEquals(new RankSpan(4, 1, 10), agents.get(2).leader());
        assertEquals(RankSpan.all(1), RankSpan.all(10).leader(), "nobody is elsewhere");
        assertFalse(agents.getFirst().leader().isAll());
    }

    @Test
    void numbersHave24Bits() {
        RankSpan span = new RankSpan(999_990, 10, 1_000_000);
        assertTrue(span.owns(15_999_999));
        assertFalse(span.owns(16_999_999));
        assertEquals(RankSpan.MOST_NUMBERS, span.number(1 << 20));
    }

    @Test
    void refusesWhatIsNoSpan() {
        assertThrows(IllegalArgumentException.class, () -> new RankSpan(0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> new RankSpan(-1, 2, 4));
        assertThrows(IllegalArgumentException.class, () -> new RankSpan(3, 2, 4));
        assertThrows(IndexOutOfBoundsException.class, () -> agents.get(1).index(4));
    }
}
