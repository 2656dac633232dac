package org.udckpt.process.trace;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.udckpt.linux.Cpuid;
import org.udckpt.process.model.VectorLayout;

/** How this machine lays out XSAVE areas. */
public final class VectorLayouts {
    /**
     * First of the legacy region's bytes for software, in which Linux tells the enabled components (Linux, asm/user.h,
     * USER_XSTATE_XCR0_WORD).
     */
    private static final int ENABLED = 464;
    private static final int LEAF = 0xd, FIRST = 2, COMPONENTS = 63, XSAVEC = 1 << 1;

    private VectorLayouts() {}

    /** @param xstate of any thread of this machine, as {@link Ptrace#xstate} gives it */
    public static VectorLayout here(byte[] xstate) {
        long enabled = ByteBuffer.wrap(xstate).order(ByteOrder.LITTLE_ENDIAN).getLong(ENABLED);
        int[] offsets = new int[COMPONENTS];
        int[] sizes = new int[COMPONENTS];
        for (int i = FIRST; i < COMPONENTS; i++) {
            if ((enabled >>> i & 1) != 0) {
                int[] registers = Cpuid.read(LEAF, i); // EAX: size, EBX: offset in the standard format
                sizes[i] = registers[0];
                offsets[i] = registers[1];
            }
        }
        return new VectorLayout(xstate.length, enabled, offsets, sizes, (Cpuid.read(LEAF, 1)[0] & XSAVEC) != 0);
    }
}
