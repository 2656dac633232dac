package org.udckpt.process.kinds.raw;

import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;
import static org.udckpt.linux.LinuxConstants.SOCK_RAW;

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
import org.udckpt.process.model.PacketSocket.RawSocket;
import org.udckpt.process.model.RowCheck;

/** Raw sockets (raw(7)), and ping sockets (icmp(7)). */
public final class RawSocketKind implements DescriptorKind<RawSocket> {
    /** The kernel knows some above the 255 that fit into a packet (Multipath TCP is 262), and may know more. */
    private static final int MOST_PROTOCOL = 0xffff;

    @Override
    public Class<RawSocket> record() {
        return RawSocket.class;
    }

    @Override
    public String shown(RawSocket socket) {
        return RawRestore.name(socket);
    }

    @Override
    public void check(RawSocket socket, RowCheck row, CheckedImage image) throws BrokenTable {
        row.socket(socket);
        row.between(SOCK_DGRAM, SOCK_RAW, "type", socket.type());
        row.between(1, MOST_PROTOCOL, "protocol", socket.protocol());
        row.names(socket.local(), socket.remote(), socket.domain(), socket.device());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new RawCapture(scope);
    }

    @Override
    public KindRestore<RawSocket> restore(RestoreScope scope) {
        return KindRestore.none();
    }

    @Override
    public MadeHere madeHere(JobImage image, ObjectOwners owners) {
        return new RawRestore(image, owners);
    }
}
