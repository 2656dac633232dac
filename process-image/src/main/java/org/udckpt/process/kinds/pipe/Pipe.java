package org.udckpt.process.kinds.pipe;

import org.udckpt.process.model.KernelObject;

/** The buffer between the {@link PipeEnd}s. {@code path}: of a named FIFO, or null. */
public record Pipe(long id, String path, int capacity, byte[] contents) implements KernelObject {}
