package org.udckpt.process.kinds.inotify;

import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.KernelObject;

/** Its watches are {@link InotifyWatch}es. */
public record InotifyFd(long id, int flags) implements KernelObject {}
