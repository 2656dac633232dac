package org.udckpt.process.kinds.file;

import org.udckpt.process.model.KernelObject;

/** The name by which open file {@code object} was opened: it was removed while the file kept another (link(2)). */
public record FormerName(long id, long object, String path) implements KernelObject {}
