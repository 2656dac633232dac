package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.IpcNamespace;
import org.udckpt.process.model.IpcPlace;
import org.udckpt.process.model.RowCheck;

/** In which IPC namespace an object is. */
public final class IpcPlaceKind implements ObjectKind<IpcPlace> {
    @Override
    public Class<IpcPlace> record() {
        return IpcPlace.class;
    }

    @Override
    public String shown(IpcPlace one) {
        return "object " + one.object() + " in namespace " + one.ipcNamespace();
    }

    @Override
    public void check(IpcPlace one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.get(one.object()) != null, "there is no object %d", one.object());
        row.require(image.is(one.ipcNamespace(), IpcNamespace.class), "ipcNamespace %d is none", one.ipcNamespace());
    }
}
