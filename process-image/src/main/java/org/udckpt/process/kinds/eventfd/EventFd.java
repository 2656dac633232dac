package org.udckpt.process.kinds.eventfd;

import org.udckpt.process.model.KernelObject;

/** An event counter (eventfd(2)); {@code semaphore}: each read takes one off (EFD_SEMAPHORE). */
public record EventFd(long id, int flags, long count, boolean semaphore) implements KernelObject {}
