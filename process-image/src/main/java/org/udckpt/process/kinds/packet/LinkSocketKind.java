package org.udckpt.process.kinds.packet;

import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;
import static org.udckpt.linux.LinuxConstants.SOCK_PACKET;
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
import org.udckpt.process.model.PacketSocket.LinkSocket;
import org.udckpt.process.model.RowCheck;

/** Packet sockets (packet(7)), with rings that nobody has mapped. */
public final class LinkSocketKind implements DescriptorKind<LinkSocket> {
    private static final int MOST_PROTOCOL = 0xffff;

    @Override
    public Class<LinkSocket> record() {
        return LinkSocket.class;
    }

    @Override
    public String shown(LinkSocket socket) {
        return name(socket);
    }

    /** For messages. */
    static String name(LinkSocket socket) {
        return "packet socket of protocol 0x" + Integer.toHexString(socket.protocol())
                + (socket.device().isEmpty() ? "" : " at " + socket.device());
    }

    @Override
    public void check(LinkSocket socket, RowCheck row, CheckedImage image) throws BrokenTable {
        row.socket(socket);
        row.require(socket.type() == SOCK_RAW || socket.type() == SOCK_DGRAM || socket.type() == SOCK_PACKET,
                "type %d is none of a packet socket", socket.type());
        row.between(0, MOST_PROTOCOL, "protocol", socket.protocol());
        row.text("device", socket.device());
        row.require(socket.device().length() < LinkSocket.DEVICE, "the name of the device has %d characters",
                socket.device().length());
        ring(row, "receiveRing", socket.receiveRing());
        ring(row, "sendRing", socket.sendRing());
        row.notNull("memberships", socket.memberships());
        row.require(socket.memberships().length % LinkSocket.MEMBERSHIP == 0, "%d bytes are no memberships",
                socket.memberships().length);
    }

    private static void ring(RowCheck row, String column, int[] ring) throws BrokenTable {
        row.notNull(column, ring);
        row.require(ring.length == 0 || ring.length == LinkSocket.RING, "%d numbers are no ring", ring.length);
        for (int number : ring) {
            row.notNegative(column, number);
        }
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new LinkCapture(scope);
    }

    @Override
    public KindRestore<LinkSocket> restore(RestoreScope scope) {
        return new LinkRestore(scope);
    }

    @Override
    public MadeHere madeHere(JobImage image, ObjectOwners owners) {
        return new LinkMadeHere(image, owners);
    }
}
