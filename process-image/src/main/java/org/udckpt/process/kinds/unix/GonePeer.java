package org.udckpt.process.kinds.unix;

import org.udckpt.process.model.KernelObject;

/**
 * The peer of unix socket {@code object} has closed, and still tells its name (getpeername(2)).
 *
 * @param name as that of a {@link UnixSocket}
 */
public record GonePeer(long id, long object, byte[] name) implements KernelObject {}
