package org.udckpt.process.kinds.filter;

import org.udckpt.process.model.KernelObject;

/**
 * The classic BPF program by which socket {@code object} filters what it receives (socket(7), SO_ATTACH_FILTER).
 *
 * @param program instructions of 8 bytes each (struct sock_filter)
 * @param locked whether it can be neither changed nor detached (SO_LOCK_FILTER)
 */
public record SocketFilter(long id, long object, byte[] program, boolean locked) implements KernelObject {
    static final int INSTRUCTION = 8;
    /** BPF_MAXINSNS. */
    static final int MOST = 4096;
}
