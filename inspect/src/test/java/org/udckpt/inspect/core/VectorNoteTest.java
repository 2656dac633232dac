package org.udckpt.inspect.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.udckpt.process.model.VectorLayout;

/**
 * Areas of several processors become what debuggers expect, whose sizes tell them what is in it (gdb/i387-tdep.c,
 * gdbsupport/x86-xstate.h).
 */
class VectorNoteTest {
    private static final int AVX = 2, OPMASKS = 5, ZMM = 6, HIGH_ZMM = 7, PKRU = 9, CET = 11, TILES = 18;
    private final Random random = new Random(7);
    private byte[] area;

    /** @param places component, offset, size */
    private VectorLayout layout(int bytes, int[]... places) {
        int[] offsets = new int[63];
        int[] sizes = new int[63];
        long components = 3;
        for (int[] place : places) {
            offsets[place[0]] = place[1];
            sizes[place[0]] = place[2];
            components |= 1L << place[0];
        }
        area = new byte[bytes];
        random.nextBytes(area);
        words(area).putLong(464, components).putLong(512, components);
        return new VectorLayout(bytes, components, offsets, sizes, true);
    }

    private static ByteBuffer words(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void same(int from, byte[] note, int to, int size) {
        assertArrayEquals(Arrays.copyOfRange(area, from, from + size), Arrays.copyOfRange(note, to, to + size));
    }

    @Test
    void anAmdProcessor() {
        VectorLayout layout = layout(2440, new int[]{AVX, 576, 256}, new int[]{OPMASKS, 832, 64},
                new int[]{ZMM, 896, 512}, new int[]{HIGH_ZMM, 1408, 1024}, new int[]{PKRU, 2432, 8});
        byte[] note = VectorNote.of(area, layout);
        assertEquals(2696, note.length);
        assertEquals(0x2e7, words(note).getLong(464));
        assertEquals(0x2e7, words(note).getLong(512));
        same(0, note, 0, 464);
        same(576, note, 576, 256);
        same(832, note, 1088, 64);
        same(896, note, 1152, 512);
        same(1408, note, 1664, 1024);
        same(2432, note, 2688, 8);
    }

    @Test
    void anIntelProcessorWithTiles() {
        VectorLayout layout = layout(11008, new int[]{AVX, 576, 256}, new int[]{OPMASKS, 1088, 64},
                new int[]{ZMM, 1152, 512}, new int[]{HIGH_ZMM, 1664, 1024}, new int[]{PKRU, 2688, 8},
                new int[]{17, 2752, 64}, new int[]{TILES, 2816, 8192});
        byte[] note = VectorNote.of(area, layout);
        assertEquals(2696, note.length, "what debuggers do not know would make them take the whole for unknown");
        assertEquals(0x2e7, words(note).getLong(464));
        same(1088, note, 1088, 1608);
    }

    @Test
    void fewerComponents() {
        VectorLayout least = layout(576);
        assertEquals(576, VectorNote.of(area, least).length);
        VectorLayout old = layout(832, new int[]{AVX, 576, 256});
        assertArrayEquals(area, VectorNote.of(area, old), "as it was");
        VectorLayout shadowStacks = layout(2448, new int[]{AVX, 576, 256}, new int[]{CET, 832, 16});
        byte[] note = VectorNote.of(area, shadowStacks);
        assertEquals(832, note.length);
        assertEquals(7, words(note).getLong(464));
    }
}
