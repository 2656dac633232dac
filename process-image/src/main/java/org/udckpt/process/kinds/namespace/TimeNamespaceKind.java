package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.TimeNamespace;
import org.udckpt.process.model.UserNamespace;

/** Time namespaces that the job has made; the restart of mounts makes them, too. */
public final class TimeNamespaceKind implements ObjectKind<TimeNamespace> {
    @Override
    public Class<TimeNamespace> record() {
        return TimeNamespace.class;
    }

    @Override
    public String shown(TimeNamespace one) {
        return one.monotonicNs() + " ns ahead";
    }

    @Override
    public void check(TimeNamespace one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(one.userOwner() == 0 || image.is(one.userOwner(), UserNamespace.class),
                "userOwner %d is no user namespace", one.userOwner());
    }
}
