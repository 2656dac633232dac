package org.udckpt.process.kinds.replaced;

import org.udckpt.process.model.KernelObject;

/** The library's control connection: the restorer puts a fresh one there. */
public record AgentConnection(long id, int flags) implements KernelObject {
    @Override
    public boolean replaced() {
        return true;
    }
}
