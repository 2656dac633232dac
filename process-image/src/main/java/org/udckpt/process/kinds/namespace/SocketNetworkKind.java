package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.NetworkNamespace;
import org.udckpt.process.model.NetworkNamespaceMember;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.SocketNetwork;

/** Which socket belongs to which network namespace. */
public final class SocketNetworkKind implements ObjectKind<SocketNetwork> {
    @Override
    public Class<SocketNetwork> record() {
        return SocketNetwork.class;
    }

    @Override
    public String shown(SocketNetwork one) {
        return "socket " + one.object() + " in namespace " + one.networkNamespace();
    }

    @Override
    public void check(SocketNetwork one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.canBeOpen(one.object()), CheckedImage.CANNOT_BE_OPEN, one.object());
        row.require(image.is(one.networkNamespace(), NetworkNamespace.class), "networkNamespace %d is none",
                one.networkNamespace());
        row.require(image.image().objects().stream().anyMatch(other -> other instanceof NetworkNamespaceMember member
                && member.networkNamespace() == one.networkNamespace()), "networkNamespace %d has no process",
                one.networkNamespace());
    }
}
