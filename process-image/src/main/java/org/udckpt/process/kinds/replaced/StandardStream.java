package org.udckpt.process.kinds.replaced;

import org.udckpt.process.model.KernelObject;

/** Standard stream 0, 1 or 2 inherited from the launcher: the same stream of the new launcher. */
public record StandardStream(long id, int stream, int flags) implements KernelObject {
    @Override
    public boolean replaced() {
        return true;
    }
}
