package org.udckpt.process.kinds.replaced;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.RowCheck;

/** The library's connection to its agent. */
public final class AgentConnectionKind implements DescriptorKind<AgentConnection> {
    @Override
    public Class<AgentConnection> record() {
        return AgentConnection.class;
    }

    @Override
    public String shown(AgentConnection connection) {
        return "";
    }

    @Override
    public boolean given() {
        return true;
    }

    @Override
    public void check(AgentConnection connection, RowCheck row, CheckedImage image) {
        // A restart makes it anew.
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new ReplacedCapture(scope, scope::toAgent, (open, id) -> new AgentConnection(id, open.openFlags()));
    }

    @Override
    public KindRestore<AgentConnection> restore(RestoreScope scope) {
        return new AgentConnectionRestore(scope);
    }
}
