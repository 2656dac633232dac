package org.udckpt.process.kinds.unix;

import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.SocketLevel;

/**
 * The options of unix socket {@code object} that are not what a new socket has ({@link SocketLevel#UNIX}), three
 * numbers each: level, name, value (setsockopt(2)). SO_LINGER: the seconds, where it is on.
 */
public record UnixOptions(long id, long object, int[] options) implements KernelObject {}
