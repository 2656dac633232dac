package org.udckpt.inspect.core;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.udckpt.process.model.VectorLayout;

/**
 * A thread's vector registers as debuggers expect them in NT_X86_XSTATE. A core file does not say where a component
 * lies in the XSAVE area: gdb up to 13 takes Intel's places for granted, later ones guess from the size
 * (gdb/i387-tdep.c, i387_guess_xsave_layout), and neither knows AMX's. So each component goes to Intel's place,
 * whatever machine the checkpoint is of, and the area ends with the last one that debuggers know.
 */
final class VectorNote {
    /**
     * struct user_fpregs_struct (sys/user.h), the legacy region of XSAVE (Intel SDM vol. 1, 10.5.1): x87 and SSE
     * registers.
     */
    static final int LEGACY = 512;
    /**
     * Where Linux tells which components there are: the first of the bytes that are left to software (asm/user.h,
     * USER_XSTATE_XCR0_WORD).
     */
    private static final int ENABLED = 464;
    private static final int IN_USE = LEGACY;
    private static final long X87_AND_SSE = 3;
    /** Intel's offsets and sizes by component: AVX, MPX's two, AVX-512's three, PKRU (Intel SDM vol. 1, 13.4, 13.5). */
    private static final int[][] PLACES =
            {{2, 576, 256}, {3, 960, 64}, {4, 1024, 64}, {5, 1088, 64}, {6, 1152, 512}, {7, 1664, 1024}, {9, 2688, 8}};

    private VectorNote() {}

    /** @param layout of {@code area}, the XSAVE area as the image has it */
    static byte[] of(byte[] area, VectorLayout layout) {
        ByteBuffer from = ByteBuffer.wrap(area).order(ByteOrder.LITTLE_ENDIAN);
        byte[] made = new byte[end(layout)];
        System.arraycopy(area, 0, made, 0, VectorLayout.HEADER_END);
        long known = X87_AND_SSE;
        for (int[] place : PLACES) {
            int component = place[0];
            if (there(layout, component)) {
                known |= 1L << component;
                System.arraycopy(area, layout.offsets()[component], made, place[1],
                        Math.min(place[2], layout.sizes()[component]));
            }
        }
        ByteBuffer to = ByteBuffer.wrap(made).order(ByteOrder.LITTLE_ENDIAN);
        to.putLong(ENABLED, layout.components() & known);
        to.putLong(IN_USE, from.getLong(IN_USE) & known);
        return made;
    }

    private static int end(VectorLayout layout) {
        return Arrays.stream(PLACES).filter(place -> there(layout, place[0])).mapToInt(place -> place[1] + place[2])
                .max().orElse(VectorLayout.HEADER_END);
    }

    private static boolean there(VectorLayout layout, int component) {
        return layout.has(component) && layout.sizes()[component] > 0;
    }
}
