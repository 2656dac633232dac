package org.udckpt.process.kinds.pipe;

import org.udckpt.process.model.KernelObject;

/** An open end of {@link Pipe} {@code pipe}; {@code flags} are those of open(2). */
public record PipeEnd(long id, long pipe, boolean writeEnd, int flags) implements KernelObject {}
