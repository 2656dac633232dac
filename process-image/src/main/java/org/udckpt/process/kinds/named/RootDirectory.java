package org.udckpt.process.kinds.named;

import org.udckpt.process.model.KernelObject;

/** The root directory of process {@code pid}, where it is not that of its mounts (chroot(2)). */
public record RootDirectory(long id, int pid, String path) implements KernelObject {}
