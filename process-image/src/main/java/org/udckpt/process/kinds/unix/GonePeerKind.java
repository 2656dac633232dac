package org.udckpt.process.kinds.unix;

import java.util.function.UnaryOperator;
import org.udckpt.linux.RawText;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** The name of a unix socket's peer that has closed: captured and restored with the socket. */
public final class GonePeerKind implements ObjectKind<GonePeer> {
    @Override
    public Class<GonePeer> record() {
        return GonePeer.class;
    }

    @Override
    public String shown(GonePeer peer) {
        return RawText.decode(peer.name()).replace('\0', '@');
    }

    @Override
    public GonePeer moved(GonePeer peer, UnaryOperator<String> moves) {
        return new GonePeer(peer.id(), peer.object(), UnixSocketKind.moved(peer.name(), moves));
    }

    @Override
    public void check(GonePeer peer, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.get(peer.object()) instanceof UnixSocket socket && socket.state() == SocketState.PEER_CLOSED,
                "object %d is not a unix socket in state PEER_CLOSED", peer.object());
        row.bytes("name", peer.name(), 1, UnixSocketKind.SUN_PATH, 1);
    }
}
