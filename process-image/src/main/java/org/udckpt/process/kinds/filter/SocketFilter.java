package org.udckpt.process.kinds.filter;

import org.udckpt.process.model.KernelObject;

/**
 * The classic BPF program by which socket {@code object} filters what it receives (socket(7), SO_ATTACH_FILTER).
 *
 * @param program a {@link org.udckpt.process.kinds.base.ClassicBpf}
 * @param locked whether it can be neither changed nor detached (SO_LOCK_FILTER)
 */
public record SocketFilter(long id, long object, byte[] program, boolean locked) implements KernelObject {}
