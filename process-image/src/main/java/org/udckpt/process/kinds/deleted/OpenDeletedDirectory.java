package org.udckpt.process.kinds.deleted;

import org.udckpt.process.model.KernelObject;

/** An open file, or a handle (O_PATH), of a {@link DeletedDirectory}, {@code backing}. */
public record OpenDeletedDirectory(long id, String path, int flags, long position, long backing)
        implements
            KernelObject {}
