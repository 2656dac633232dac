package org.udckpt.image.block;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/** Planes by Java code: eight numbers are eight rows of a square of bytes, which is turned. */
final class JavaPlanes implements BytePlanes {
    private static final int SQUARE = PLANES * Long.BYTES;

    @Override
    public void split(MemorySegment from, int length, int first, int gap, MemorySegment to, MemorySegment others) {
        int plane = length / PLANES;
        for (int at = 0; at < length; at += SQUARE) {
            turn(from, at, PLANES, others, at / PLANES, plane);
        }
        for (int i = 0; i < first; i++) {
            MemorySegment.copy(others, (long) i * plane, to, (long) i * (plane + gap) + gap, plane);
        }
    }

    @Override
    public void join(MemorySegment from, int length, MemorySegment to) {
        int plane = length / PLANES;
        for (int at = 0; at < length; at += SQUARE) {
            turn(from, at / PLANES, plane, to, at, PLANES);
        }
    }

    @Override
    public void count(MemorySegment block, int length, MemorySegment counts) {
        long stride = length / RUNS & -Long.BYTES;
        for (int run = 0; run < RUNS; run++) {
            for (int i = 0; i < RUN; i++) {
                count(block.get(JAVA_LONG_UNALIGNED, run * stride + (long) i * Long.BYTES), counts);
            }
        }
    }

    private static void count(long number, MemorySegment counts) {
        for (int plane = 0; plane < PLANES; plane++) {
            long index = plane * VALUES + (number >>> plane * Byte.SIZE & 0xff);
            counts.setAtIndex(JAVA_INT, index, counts.getAtIndex(JAVA_INT, index) + 1);
        }
    }

    /** Turns one square, whose rows are {@code fromRow} bytes from each other here and {@code toRow} there. */
    private static void turn(MemorySegment from, long first, long fromRow, MemorySegment to, long at, long toRow) {
        long a = from.get(JAVA_LONG_UNALIGNED, first);
        long b = from.get(JAVA_LONG_UNALIGNED, first + fromRow);
        long c = from.get(JAVA_LONG_UNALIGNED, first + 2 * fromRow);
        long d = from.get(JAVA_LONG_UNALIGNED, first + 3 * fromRow);
        long e = from.get(JAVA_LONG_UNALIGNED, first + 4 * fromRow);
        long f = from.get(JAVA_LONG_UNALIGNED, first + 5 * fromRow);
        long g = from.get(JAVA_LONG_UNALIGNED, first + 6 * fromRow);
        long h = from.get(JAVA_LONG_UNALIGNED, first + 7 * fromRow);
        long a4 = low4(a, e);
        long b4 = low4(b, f);
        long c4 = low4(c, g);
        long d4 = low4(d, h);
        long e4 = high4(a, e);
        long f4 = high4(b, f);
        long g4 = high4(c, g);
        long h4 = high4(d, h);
        long a2 = low2(a4, c4);
        long b2 = low2(b4, d4);
        long c2 = high2(a4, c4);
        long d2 = high2(b4, d4);
        long e2 = low2(e4, g4);
        long f2 = low2(f4, h4);
        long g2 = high2(e4, g4);
        long h2 = high2(f4, h4);
        to.set(JAVA_LONG_UNALIGNED, at, low1(a2, b2));
        to.set(JAVA_LONG_UNALIGNED, at + toRow, high1(a2, b2));
        to.set(JAVA_LONG_UNALIGNED, at + 2 * toRow, low1(c2, d2));
        to.set(JAVA_LONG_UNALIGNED, at + 3 * toRow, high1(c2, d2));
        to.set(JAVA_LONG_UNALIGNED, at + 4 * toRow, low1(e2, f2));
        to.set(JAVA_LONG_UNALIGNED, at + 5 * toRow, high1(e2, f2));
        to.set(JAVA_LONG_UNALIGNED, at + 6 * toRow, low1(g2, h2));
        to.set(JAVA_LONG_UNALIGNED, at + 7 * toRow, high1(g2, h2));
    }

    /** The lower four bytes of each row, for the upper half of the square: two quarters change places. */
    private static long low4(long upper, long lower) {
        return upper & 0x00000000ffffffffL | lower << 32;
    }

    private static long high4(long upper, long lower) {
        return upper >>> 32 | lower & 0xffffffff00000000L;
    }

    private static long low2(long upper, long lower) {
        return upper & 0x0000ffff0000ffffL | (lower & 0x0000ffff0000ffffL) << 16;
    }

    private static long high2(long upper, long lower) {
        return upper >>> 16 & 0x0000ffff0000ffffL | lower & 0xffff0000ffff0000L;
    }

    private static long low1(long upper, long lower) {
        return upper & 0x00ff00ff00ff00ffL | (lower & 0x00ff00ff00ff00ffL) << 8;
    }

    private static long high1(long upper, long lower) {
        return upper >>> 8 & 0x00ff00ff00ff00ffL | lower & 0xff00ff00ff00ff00L;
    }
}
