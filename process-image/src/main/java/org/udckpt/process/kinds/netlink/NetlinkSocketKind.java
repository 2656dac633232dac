package org.udckpt.process.kinds.netlink;

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
import org.udckpt.process.model.PacketSocket.NetlinkSocket;
import org.udckpt.process.model.RowCheck;

/** Netlink sockets (netlink(7)) with empty queues. */
public final class NetlinkSocketKind implements DescriptorKind<NetlinkSocket> {
    @Override
    public Class<NetlinkSocket> record() {
        return NetlinkSocket.class;
    }

    @Override
    public String shown(NetlinkSocket socket) {
        return "family " + socket.protocol();
    }

    @Override
    public void check(NetlinkSocket socket, RowCheck row, CheckedImage image) throws BrokenTable {
        row.socket(socket);
        row.notNull("groups", socket.groups());
        for (int group : socket.groups()) {
            row.between(1, Integer.MAX_VALUE, "groups", group);
        }
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new NetlinkCapture(scope);
    }

    @Override
    public KindRestore<NetlinkSocket> restore(RestoreScope scope) {
        return KindRestore.none();
    }

    @Override
    public MadeHere madeHere(JobImage image, ObjectOwners owners) {
        return new NetlinkRestore(image, owners);
    }
}
