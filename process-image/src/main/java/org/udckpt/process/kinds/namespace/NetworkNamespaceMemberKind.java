package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.NetworkNamespace;
import org.udckpt.process.model.NetworkNamespaceMember;
import org.udckpt.process.model.RowCheck;

/** Which process is in which network namespace. */
public final class NetworkNamespaceMemberKind implements ObjectKind<NetworkNamespaceMember> {
    @Override
    public Class<NetworkNamespaceMember> record() {
        return NetworkNamespaceMember.class;
    }

    @Override
    public String shown(NetworkNamespaceMember one) {
        return "process " + one.pid() + " in namespace " + one.networkNamespace();
    }

    @Override
    public void check(NetworkNamespaceMember one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(one.pid()), "there is no process %d", one.pid());
        row.require(image.is(one.networkNamespace(), NetworkNamespace.class), "networkNamespace %d is none",
                one.networkNamespace());
    }
}
