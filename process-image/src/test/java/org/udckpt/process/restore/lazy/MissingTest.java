package org.udckpt.process.restore.lazy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class MissingTest {
    private static final long PAGE = 4096;
    private static final int PAGES = 2000;

    /** Against a table with a row for each page: the offset of its contents, or -1. */
    @RepeatedTest(20)
    void isWhatATableOfPagesSays() {
        long seed = System.nanoTime() & 0xffffff;
        Random random = new Random(seed);
        Missing missing = new Missing();
        long[] table = new long[PAGES];
        Arrays.fill(table, -1);
        for (int at = random.nextInt(20); at < PAGES;) {
            int end = Math.min(PAGES, at + 1 + random.nextInt(600));
            missing.add(new Missing.Part(at * PAGE, end * PAGE, 0, at * PAGE));
            for (int page = at; page < end; page++) {
                table[page] = page * PAGE;
            }
            at = end + random.nextInt(50);
        }
        for (int step = 0; step < 300; step++) {
            int length = 1 + random.nextInt(300);
            int from = random.nextInt(PAGES - length);
            int to = random.nextInt(PAGES - length);
            if (Math.abs(from - to) < length || random.nextBoolean()) { // mremap(2) lets them not overlap
                missing.remove(from * PAGE, (from + length) * PAGE);
                Arrays.fill(table, from, from + length, -1);
            } else {
                missing.move(from * PAGE, to * PAGE, length * PAGE);
                System.arraycopy(table, from, table, to, length);
                Arrays.fill(table, from, from + length, -1);
            }
            check(missing, table, random.nextInt(PAGES), "seed " + seed + ", step " + step);
        }
        assertEquals(missing.bytes(), missing.copy().bytes());
    }

    private static void check(Missing missing, long[] table, int page, String when) {
        assertEquals(PAGE * Arrays.stream(table).filter(offset -> offset >= 0).count(), missing.bytes(), when);
        Missing.Part here = missing.at(page * PAGE);
        Missing.Part next = missing.next(page * PAGE);
        int first = page;
        while (first < PAGES && table[first] < 0) {
            first++;
        }
        if (first == PAGES) {
            assertNull(next, when);
            return;
        }
        assertEquals(first * PAGE, next.start(), when);
        if (table[page] < 0) {
            assertNull(here, when);
            return;
        }
        assertEquals(table[page], page * PAGE + here.bias(), when);
        for (long at = here.start(); at < here.end(); at += PAGE) {
            assertEquals(at + here.bias(), table[(int) (at / PAGE)], when);
        }
        assertEquals(PAGE, Math.min(PAGE, missing.still(here)), when);
    }

    @Test
    void aPartIsCutWhereThePiecesOfTheImageAre() {
        Missing missing = new Missing();
        long origin = 3 * PAGE;
        missing.add(new Missing.Part(origin, origin + 3 * Missing.PIECE, 0, origin));
        missing.remove(origin + Missing.PIECE + 5 * PAGE, origin + Missing.PIECE + 6 * PAGE);
        assertEquals(new Missing.Part(origin, origin + Missing.PIECE, 0, origin), missing.at(origin + 9 * PAGE));
        assertEquals(origin + Missing.PIECE + 5 * PAGE, missing.at(origin + Missing.PIECE).end());
        assertEquals(origin + 2 * Missing.PIECE, missing.at(origin + Missing.PIECE + 7 * PAGE).end());
        missing.move(origin, 1L << 30, 2 * Missing.PIECE);
        assertEquals((1L << 30) + Missing.PIECE, missing.at(1L << 30).end(), "the image's pieces stay where they are");
        assertEquals(origin, missing.at(1L << 30).offset());
        assertEquals(origin + 2 * Missing.PIECE, missing.next(0).start());
    }

    /** A run of the prefetcher does not end in the middle of a piece, which the next run would read once more. */
    @Test
    void aPieceEndsWhereTheImageHasCutIt() {
        Missing missing = new Missing();
        missing.add(new Missing.Part(0, 183 * PAGE, 0, 0));
        missing.add(new Missing.Part(183 * PAGE, 439 * PAGE, 0, 183 * PAGE));
        assertEquals(new Missing.Part(183 * PAGE, 439 * PAGE, 0, 183 * PAGE), missing.at(300 * PAGE));
        assertEquals(439 * PAGE, missing.pieceEnd(256 * PAGE));
        assertEquals(183 * PAGE, missing.pieceEnd(183 * PAGE));
        assertEquals(500 * PAGE, missing.pieceEnd(500 * PAGE));
    }

    @Test
    void whatWasRemovedOrMovedMeanwhileIsNotStillMissing() {
        Missing missing = new Missing();
        missing.add(new Missing.Part(0, 10 * PAGE, 0, 0));
        Missing.Part read = missing.at(4 * PAGE);
        missing.remove(6 * PAGE, 7 * PAGE);
        assertEquals(6 * PAGE, missing.still(read));
        missing.move(0, 100 * PAGE, 5 * PAGE);
        assertEquals(0, missing.still(read));
        missing.move(100 * PAGE, 2 * PAGE, 5 * PAGE);
        assertEquals(0, missing.still(new Missing.Part(2 * PAGE, 5 * PAGE, 0, 0)),
                "other contents at the same address");
    }
}
