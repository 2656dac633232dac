package org.udckpt.process.kinds.signalfd;

import org.udckpt.process.model.KernelObject;

/** A signal descriptor (signalfd(2)): {@code mask} has bit (signal - 1) of each that it reads. */
public record SignalFd(long id, int flags, long mask) implements KernelObject {}
