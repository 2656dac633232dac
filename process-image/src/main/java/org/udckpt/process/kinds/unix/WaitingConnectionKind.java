package org.udckpt.process.kinds.unix;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Connections that a unix socket has not accepted: captured and restored with it. */
public final class WaitingConnectionKind implements ObjectKind<WaitingConnection> {
    @Override
    public Class<WaitingConnection> record() {
        return WaitingConnection.class;
    }

    @Override
    public String shown(WaitingConnection waiting) {
        return (waiting.client() == WaitingConnection.CLOSED ? "of a closed socket" : "of socket " + waiting.client())
                + " to socket " + waiting.object();
    }

    @Override
    public void check(WaitingConnection waiting, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.get(waiting.object()) instanceof UnixSocket listener
                && listener.state() == SocketState.LISTENING && listener.name() != null
                && listener.name().length > 0,
                "object %d is not a listening unix socket with a name", waiting.object());
        row.require(waiting.client() == WaitingConnection.CLOSED
                || image.get(waiting.client()) instanceof UnixSocket client && client.state() == SocketState.WAITING
                        && client.type() == ((UnixSocket) image.get(waiting.object())).type(),
                "client %d is not a unix socket of the listener's type in state WAITING", waiting.client());
    }
}
