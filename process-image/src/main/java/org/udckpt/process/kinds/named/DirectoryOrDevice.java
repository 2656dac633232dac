package org.udckpt.process.kinds.named;

import org.udckpt.process.model.KernelObject;

/** A directory, a harmless device (/dev/null, ...), or an O_PATH handle of anything. */
public record DirectoryOrDevice(long id, String path, int flags, long position) implements KernelObject {}
