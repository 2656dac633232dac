package org.udckpt.process.kinds.udp;

import org.udckpt.linux.TcpAddress;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.PacketSocket.UdpSocket;
import org.udckpt.process.model.RowCheck;

/** Datagrams that UDP sockets had collected and not sent: captured and restored with them. */
public final class UdpUnsentKind implements ObjectKind<UdpUnsent> {
    private static final int MOST_BYTES = 1 << 16;

    @Override
    public Class<UdpUnsent> record() {
        return UdpUnsent.class;
    }

    @Override
    public String shown(UdpUnsent unsent) {
        return unsent.queued().length + " bytes"
                + (unsent.remote().length == 0 ? "" : " to " + TcpAddress.of(unsent.remote()));
    }

    @Override
    public void check(UdpUnsent unsent, RowCheck row, CheckedImage image) throws BrokenTable {
        if (!(image.get(unsent.object()) instanceof UdpSocket socket)) {
            throw row.broken("object " + unsent.object() + " is not a UDP socket");
        }
        row.bytes("queued", unsent.queued(), 0, MOST_BYTES, 1);
        row.notNull("remote", unsent.remote());
        if (unsent.remote().length > 0) {
            row.address("remote", unsent.remote(), socket.domain());
        }
    }
}
