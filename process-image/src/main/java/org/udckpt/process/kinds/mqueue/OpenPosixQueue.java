package org.udckpt.process.kinds.mqueue;

import org.udckpt.process.model.KernelObject;

/**
 * An open POSIX message queue (mq_open(3)).
 *
 * @param queue id of the {@link PosixQueue}
 * @param flags of open(2)
 */
public record OpenPosixQueue(long id, long queue, int flags) implements KernelObject {}
