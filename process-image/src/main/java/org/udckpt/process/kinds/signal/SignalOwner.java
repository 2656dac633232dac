package org.udckpt.process.kinds.signal;

import org.udckpt.process.model.KernelObject;

/**
 * Whom open file {@code object} would signal, and by what, although it is not to when it is ready (no O_ASYNC): a
 * socket does so for an urgent byte.
 *
 * @param type as that of {@link SignalOnReady}, {@code receiver} and {@code signal} too
 */
public record SignalOwner(long id, long object, int type, int receiver, int signal) implements KernelObject {}
