package org.udckpt.process.kinds.udp;

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
import org.udckpt.process.model.PacketOptions;
import org.udckpt.process.model.PacketSocket.UdpSocket;
import org.udckpt.process.model.RowCheck;

/** UDP sockets (udp(7)), with datagrams that were not read. */
public final class UdpSocketKind implements DescriptorKind<UdpSocket> {
    @Override
    public Class<UdpSocket> record() {
        return UdpSocket.class;
    }

    @Override
    public String shown(UdpSocket socket) {
        return TcpAddress.of(socket.local())
                + (socket.remote().length == 0 ? "" : " to " + TcpAddress.of(socket.remote()));
    }

    @Override
    public void check(UdpSocket socket, RowCheck row, CheckedImage image) throws BrokenTable {
        row.socket(socket);
        row.require(socket.protocol() == PacketOptions.SOL_UDP || socket.protocol() == PacketOptions.SOL_UDPLITE,
                "protocol %d is none of UDP sockets", socket.protocol());
        row.names(socket.local(), socket.remote(), socket.domain(), socket.device());
        row.notNull("queued", socket.queued());
        row.messages("lengths", socket.lengths(), socket.queued().length);
        int one = UdpSocket.addressBytes(socket.domain());
        row.bytes("senders", socket.senders(), one * socket.lengths().length, one * socket.lengths().length, 1);
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new UdpCapture(scope);
    }

    @Override
    public KindRestore<UdpSocket> restore(RestoreScope scope) {
        return KindRestore.none();
    }

    @Override
    public MadeHere madeHere(JobImage image, ObjectOwners owners) {
        return new UdpRestore(image, owners);
    }
}
