package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.IpcNamespace;
import org.udckpt.process.model.IpcNamespaceMember;
import org.udckpt.process.model.RowCheck;

/** Which process is in which IPC namespace. */
public final class IpcNamespaceMemberKind implements ObjectKind<IpcNamespaceMember> {
    @Override
    public Class<IpcNamespaceMember> record() {
        return IpcNamespaceMember.class;
    }

    @Override
    public String shown(IpcNamespaceMember one) {
        return "process " + one.pid() + " in namespace " + one.ipcNamespace();
    }

    @Override
    public void check(IpcNamespaceMember one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(one.pid()), "there is no process %d", one.pid());
        row.require(image.is(one.ipcNamespace(), IpcNamespace.class), "ipcNamespace %d is none", one.ipcNamespace());
    }
}
