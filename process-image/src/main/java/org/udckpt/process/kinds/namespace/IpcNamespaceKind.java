package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.IpcNamespace;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.UserNamespace;

/** IPC namespaces that the job has made; the restart of mounts makes them, too. */
public final class IpcNamespaceKind implements ObjectKind<IpcNamespace> {
    @Override
    public Class<IpcNamespace> record() {
        return IpcNamespace.class;
    }

    @Override
    public String shown(IpcNamespace one) {
        return "owned by user namespace " + one.userOwner();
    }

    @Override
    public void check(IpcNamespace one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(one.userOwner() == 0 || image.is(one.userOwner(), UserNamespace.class),
                "userOwner %d is no user namespace", one.userOwner());
    }
}
