package org.udckpt.process.kinds.udp;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.PacketSocket.UdpSocket;
import org.udckpt.process.model.RowCheck;

/** Directions in which UDP sockets were shut: captured and restored with them. */
public final class UdpShutdownKind implements ObjectKind<UdpShutdown> {
    @Override
    public Class<UdpShutdown> record() {
        return UdpShutdown.class;
    }

    @Override
    public String shown(UdpShutdown shut) {
        return switch (shut.directions()) {
            case UdpShutdown.RECEIVE -> "receives no more";
            case UdpShutdown.SEND -> "sends no more";
            default -> "neither receives nor sends";
        };
    }

    @Override
    public void check(UdpShutdown shut, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.is(shut.object(), UdpSocket.class), "object %d is not a UDP socket", shut.object());
        row.between(UdpShutdown.RECEIVE, UdpShutdown.RECEIVE | UdpShutdown.SEND, "directions", shut.directions());
    }
}
