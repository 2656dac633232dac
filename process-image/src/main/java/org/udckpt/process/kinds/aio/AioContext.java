package org.udckpt.process.kinds.aio;

import org.udckpt.process.model.KernelObject;

/**
 * A context of asynchronous I/O (io_setup(2)) with nothing in flight.
 *
 * @param address its id, the address of its ring in the process
 * @param ring its memory: struct aio_ring of fs/aio.c, and the events
 */
public record AioContext(long id, int pid, long address, byte[] ring) implements KernelObject {
    /** What /proc/PID/maps calls its memory. */
    public static final String PATH = "/[aio]";
    /** struct aio_ring: id, nr, head, tail, magic. Its first word is the kernel's, where it finds the context by. */
    static final int EVENTS = 4, HEAD = 8, TAIL = 12, MAGIC = 16, HEADER = 32, EVENT = 32, KERNELS = 4;
    static final int RING_MAGIC = 0xa10a10a1;
    /** The largest that a restart asks for: aio-max-nr is 65536. */
    static final int MOST_BYTES = 1 << 24;
}
