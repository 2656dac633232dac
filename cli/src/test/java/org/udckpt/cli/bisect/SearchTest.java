package org.udckpt.cli.bisect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** A run is written as a word: a letter for each checkpoint, t(rue), f(alse) or u(nknown). */
class SearchTest {
    private static Search of(String run) {
        return new Search(run.length(), place -> switch (run.charAt(place)) {
            case 't' -> ProbeResult.TRUE;
            case 'f' -> ProbeResult.FALSE;
            default -> ProbeResult.unknown("no frame");
        });
    }

    private static void assertFound(int firstTrue, int lastFalse, Search.Found found) {
        assertEquals(firstTrue, found.firstTrue(), found.toString());
        assertEquals(lastFalse, found.lastFalse(), found.toString());
    }

    @Test
    void theFirstOfThoseThatStayTrue() {
        for (int length = 1; length < 40; length++) {
            for (int first = 0; first < length; first++) {
                Search.Found found = of("f".repeat(first) + "t".repeat(length - first)).byHalves();
                assertFound(first, first - 1, found);
                assertTrue(found.exact());
                assertTrue(found.asked().size() <= 3 + Math.ceil(Math.log(length) / Math.log(2)),
                        () -> found.asked().size() + " questions");
            }
        }
    }

    @Test
    void neverTrue() {
        Search.Found found = of("ffff").byHalves();
        assertFound(-1, 3, found);
        assertEquals(1, found.asked().size());
        assertFound(-1, -1, of("uuu").byHalves());
        assertEquals(3, of("uuu").byHalves().asked().size());
        assertFound(-1, 0, of("fu").byHalves());
        assertFound(-1, -1, of("fff").every());
    }

    @Test
    void theUnknownArePassedOver() {
        assertFound(3, 0, of("fuut").byHalves());
        assertFalse(of("fuut").byHalves().exact());
        assertFound(2, -1, of("uuttu").byHalves());
        assertFound(4, 2, of("uffutuu").byHalves());
        assertFound(1, -1, of("ut").byHalves());
    }

    /** With any that are unknown: the last that is known to be false, and the first that is known to be true. */
    @Test
    void anyMixture() {
        long seed = System.nanoTime();
        System.out.println("SearchTest seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 2000; round++) {
            int length = 1 + random.nextInt(30), first = random.nextInt(length + 1);
            StringBuilder run = new StringBuilder();
            for (int i = 0; i < length; i++) {
                run.append(random.nextInt(3) == 0 ? 'u' : i < first ? 'f' : 't');
            }
            int expected = run.indexOf("t");
            Search.Found found = of(run.toString()).byHalves();
            if (expected < 0) {
                assertEquals(-1, found.firstTrue(), run + " " + found);
            } else {
                assertFound(expected, run.lastIndexOf("f"), found);
            }
        }
    }

    /** What does not stay true is found by asking all. */
    @Test
    void everyOne() {
        Search.Found found = of("ffutftff").every();
        assertFound(3, 1, found);
        assertEquals(8, found.asked().size());
        assertFound(0, -1, of("tf").every());
    }
}
