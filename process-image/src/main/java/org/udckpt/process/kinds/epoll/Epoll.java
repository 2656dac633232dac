package org.udckpt.process.kinds.epoll;

import org.udckpt.process.model.KernelObject;

/** An epoll descriptor (epoll(7)); what it watches is an {@link EpollEntry} each. */
public record Epoll(long id, int flags) implements KernelObject {}
