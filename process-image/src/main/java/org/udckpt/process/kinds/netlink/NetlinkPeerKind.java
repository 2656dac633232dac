package org.udckpt.process.kinds.netlink;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.PacketSocket.NetlinkSocket;
import org.udckpt.process.model.RowCheck;

/** Connections of netlink sockets: captured and restored with them. */
public final class NetlinkPeerKind implements ObjectKind<NetlinkPeer> {
    @Override
    public Class<NetlinkPeer> record() {
        return NetlinkPeer.class;
    }

    @Override
    public String shown(NetlinkPeer peer) {
        return "port " + Integer.toUnsignedString(peer.port()) + ", groups 0x" + Integer.toHexString(peer.groups());
    }

    @Override
    public void check(NetlinkPeer peer, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.get(peer.object()) instanceof NetlinkSocket, "object %d is not a netlink socket",
                peer.object());
    }
}
