package org.udckpt.process.kinds.replaced;

import org.udckpt.process.model.KernelObject;

/** The rank's connection to its process manager. {@code queued}: bytes that the rank has not read yet. */
public record PmiConnection(long id, int flags, byte[] queued) implements KernelObject {
    @Override
    public boolean replaced() {
        return true;
    }
}
