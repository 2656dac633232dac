package org.udckpt.process.kinds.base;

import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Programs of classic BPF, as sockets and threads filter with them (struct sock_filter, linux/filter.h). */
public final class ClassicBpf {
    /** Bytes of an instruction. */
    public static final int INSTRUCTION = 8;
    /** BPF_MAXINSNS. */
    public static final int MOST = 4096;

    private ClassicBpf() {}

    /**
     * Whether a row's column {@code program} can be one; what is in it the kernel looks at.
     *
     * @param least the fewest instructions that it may have
     */
    public static void check(RowCheck row, byte[] program, int least) throws BrokenTable {
        row.notNull("program", program);
        row.between((long) least * INSTRUCTION, MOST * INSTRUCTION, "length of program", program.length);
        row.require(program.length % INSTRUCTION == 0, "program has %d bytes, not 8 for each instruction",
                program.length);
    }
}
