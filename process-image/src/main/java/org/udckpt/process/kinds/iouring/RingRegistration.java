package org.udckpt.process.kinds.iouring;

import org.udckpt.process.model.KernelObject;

/**
 * What is registered with a ring besides buffers and an eventfd.
 *
 * @param ioUring the id of the ring
 * @param files ids of registered files, 8 bytes each; 0: a place without one
 * @param registrar thread of the ring's process that uses it by a registration of its own (IORING_REGISTER_RING_FDS);
 *        0: none
 * @param slot of that
 */
public record RingRegistration(long id, long ioUring, byte[] files, int registrar, int slot) implements KernelObject {
    static final int MOST_FILES = 1 << 20, MOST_SLOTS = 16;

    boolean empty() {
        return files.length == 0 && registrar == 0;
    }
}
