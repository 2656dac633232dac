package org.udckpt.process.kinds.tcp;

import org.udckpt.linux.TcpAddress;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.MadeHere;
import org.udckpt.process.kinds.base.ObjectOwners;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.TcpOptions;
import org.udckpt.process.model.TcpSocket;

/** TCP sockets (tcp(7)). */
public final class TcpSocketKind implements DescriptorKind<TcpSocket> {
    @Override
    public Class<TcpSocket> record() {
        return TcpSocket.class;
    }

    @Override
    public String shown(TcpSocket socket) {
        String remote = socket.remote().length == 0 ? "" : " to " + TcpAddress.of(socket.remote());
        return socket.state() + " " + TcpAddress.of(socket.local()) + remote;
    }

    @Override
    public void check(TcpSocket socket, RowCheck row, CheckedImage image) throws BrokenTable {
        row.names(socket.local(), socket.remote(), socket.domain(), socket.device());
        row.notNull("state", socket.state());
        row.notNull("queued", socket.queued());
        row.options(socket.options());
        boolean alone = socket.state() == TcpSocket.TcpState.UNCONNECTED
                || socket.state() == TcpSocket.TcpState.LISTENING;
        row.require(socket.protocol() == TcpOptions.SOL_TCP || alone && socket.protocol() == TcpOptions.IPPROTO_MPTCP,
                "protocol %d is none that a TCP socket can have in its state", socket.protocol());
        row.text("congestion", socket.congestion());
        row.notNegative("receiveTimeoutUs", socket.receiveTimeoutUs());
        row.notNegative("sendTimeoutUs", socket.sendTimeoutUs());
        TcpSocket peer = image.get(socket.peer()) instanceof TcpSocket other ? other : null;
        boolean right = switch (socket.state()) {
            case CONNECTED -> peer != null && peer.peer() == socket.id()
                    && peer.state() == TcpSocket.TcpState.CONNECTED;
            case WAITING -> peer != null && peer.state() == TcpSocket.TcpState.LISTENING;
            case UNCONNECTED, LISTENING, PEER_CLOSED, CLOSED -> socket.peer() == 0;
        };
        if (!right) {
            throw row.broken("peer " + socket.peer() + " does not match state " + socket.state());
        }
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new TcpCapture(scope);
    }

    @Override
    public KindRestore<TcpSocket> restore(RestoreScope scope) {
        return KindRestore.none();
    }

    @Override
    public MadeHere madeHere(JobImage image, ObjectOwners owners) {
        return new TcpRestore(image, owners);
    }
}
