package org.udckpt.inspect.core;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.model.VectorLayout;
import org.udckpt.process.trace.VectorLayouts;

/** What a core file says of one thread. */
final class ThreadNotes {
    /** struct elf_prstatus of x86-64 (linux/elfcore.h). CPU times are not in an image, and stay 0. */
    private static final int STATUS_BYTES = 336, PENDING = 16, BLOCKED = 24, IDS = 32, REGISTERS = 112,
            HAS_VECTORS = 328;
    private static final int SIGINFO = 128;

    private final ProcessState process;
    private final VectorLayout layout;

    /**
     * @param layout of the image's XSAVE areas; null in images of before they said it, whose areas are laid out as this
     *     machine's
     */
    ThreadNotes(ProcessState process, VectorLayout layout) {
        this.process = process;
        this.layout = layout;
    }

    /** NT_PRSTATUS: debuggers take each for the beginning of another thread. */
    ByteBuffer status(ThreadState thread) {
        ByteBuffer status = Notes.contents(STATUS_BYTES);
        status.putLong(PENDING, pending(thread.pendingSignals())).putLong(BLOCKED, thread.signalMask());
        status.position(IDS).putInt(thread.tid()).putInt(process.parentPid()).putInt(process.processGroup())
                .putInt(process.session());
        return status.position(REGISTERS).put(thread.registers()).putInt(HAS_VECTORS, 1);
    }

    /** NT_FPREGSET: the x87 and SSE registers. */
    byte[] legacy(ThreadState thread) {
        return Arrays.copyOf(thread.xstate(), VectorNote.LEGACY);
    }

    /** NT_X86_XSTATE: all of them. */
    byte[] vectors(ThreadState thread) {
        return VectorNote.of(thread.xstate(), layout != null ? layout : VectorLayouts.here(thread.xstate()));
    }

    private static long pending(byte[] signals) {
        ByteBuffer all = ByteBuffer.wrap(signals).order(ByteOrder.LITTLE_ENDIAN);
        long set = 0;
        for (int at = 0; at + SIGINFO <= signals.length; at += SIGINFO) {
            set |= 1L << all.getInt(at) - 1; // si_signo
        }
        return set;
    }
}
