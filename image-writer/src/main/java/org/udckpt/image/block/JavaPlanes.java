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
            splitSquare(from, at, others, at / PLANES, plane);
        }
        for (int i = 0; i < first; i++) {
            MemorySegment.copy(others, (long) i * plane, to, (long) i * (plane + gap) + gap, plane);
        }
    }

    @Override
    public void join(MemorySegment from, int length, MemorySegment to) {
        int plane = length / PLANES;
        for (int at = 0; at < length; at += SQUARE) {
            joinSquare(from, at / PLANES, plane, to, at);
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

    private static void splitSquare(MemorySegment from, long at, MemorySegment to, long first, long plane) {
        long a = from.get(JAVA_LONG_UNALIGNED, at);
        long b = from.get(JAVA_LONG_UNALIGNED, at + 8);
        long c = from.get(JAVA_LONG_UNALIGNED, at + 16);
        long d = from.get(JAVA_LONG_UNALIGNED, at + 24);
        long e = from.get(JAVA_LONG_UNALIGNED, at + 32);
        long f = from.get(JAVA_LONG_UNALIGNED, at + 40);
        long g = from.get(JAVA_LONG_UNALIGNED, at + 48);
        long h = from.get(JAVA_LONG_UNALIGNED, at + 56);
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
        to.set(JAVA_LONG_UNALIGNED, first, low1(a2, b2));
        to.set(JAVA_LONG_UNALIGNED, first + plane, high1(a2, b2));
        to.set(JAVA_LONG_UNALIGNED, first + 2 * plane, low1(c2, d2));
        to.set(JAVA_LONG_UNALIGNED, first + 3 * plane, high1(c2, d2));
        to.set(JAVA_LONG_UNALIGNED, first + 4 * plane, low1(e2, f2));
        to.set(JAVA_LONG_UNALIGNED, first + 5 * plane, high1(e2, f2));
        to.set(JAVA_LONG_UNALIGNED, first + 6 * plane, low1(g2, h2));
        to.set(JAVA_LONG_UNALIGNED, first + 7 * plane, high1(g2, h2));
    }

    private static void joinSquare(MemorySegment from, long first, long plane, MemorySegment to, long at) {
        long a = from.get(JAVA_LONG_UNALIGNED, first);
        long b = from.get(JAVA_LONG_UNALIGNED, first + plane);
        long c = from.get(JAVA_LONG_UNALIGNED, first + 2 * plane);
        long d = from.get(JAVA_LONG_UNALIGNED, first + 3 * plane);
        long e = from.get(JAVA_LONG_UNALIGNED, first + 4 * plane);
        long f = from.get(JAVA_LONG_UNALIGNED, first + 5 * plane);
        long g = from.get(JAVA_LONG_UNALIGNED, first + 6 * plane);
        long h = from.get(JAVA_LONG_UNALIGNED, first + 7 * plane);
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
        to.set(JAVA_LONG_UNALIGNED, at + 8, high1(a2, b2));
        to.set(JAVA_LONG_UNALIGNED, at + 16, low1(c2, d2));
        to.set(JAVA_LONG_UNALIGNED, at + 24, high1(c2, d2));
        to.set(JAVA_LONG_UNALIGNED, at + 32, low1(e2, f2));
        to.set(JAVA_LONG_UNALIGNED, at + 40, high1(e2, f2));
        to.set(JAVA_LONG_UNALIGNED, at + 48, low1(g2, h2));
        to.set(JAVA_LONG_UNALIGNED, at + 56, high1(g2, h2));
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
