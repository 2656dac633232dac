package org.udckpt.process.kinds.lock;

import org.udckpt.process.model.KernelObject;

/**
 * A lock on open file {@code object}. {@code length} 0: to the end of the file, however it grows.
 *
 * @param owner who holds it: FLOCK and DESCRIPTION (F_OFD_SETLK) the open file, PROCESS (F_SETLK) process {@code pid}
 */
public record FileLock(long id, long object, int pid, LockOwner owner, boolean exclusive, long start, long length)
        implements
            KernelObject {}
