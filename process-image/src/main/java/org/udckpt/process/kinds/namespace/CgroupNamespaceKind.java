package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.CgroupNamespace;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.UserNamespace;

/** Control group namespaces that the job has made; the restart of mounts makes them, too. */
public final class CgroupNamespaceKind implements ObjectKind<CgroupNamespace> {
    @Override
    public Class<CgroupNamespace> record() {
        return CgroupNamespace.class;
    }

    @Override
    public String shown(CgroupNamespace one) {
        return "owned by user namespace " + one.userOwner();
    }

    @Override
    public void check(CgroupNamespace one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(one.userOwner() == 0 || image.is(one.userOwner(), UserNamespace.class),
                "userOwner %d is no user namespace", one.userOwner());
    }
}
