package org.udckpt.process.kinds.iouring;

import org.udckpt.process.kinds.base.AskedProcess;

/** Memory that a process has registered with io_urings: the kernel writes there without a trace in the page tables. */
public final class RegisteredBuffers {
    private RegisteredBuffers() {}

    /** Whether the process may have some: it has, or had, a ring. */
    public static boolean possible(AskedProcess process) {
        return RingNotes.any(process);
    }
}
