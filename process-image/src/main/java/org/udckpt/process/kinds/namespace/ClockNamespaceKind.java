package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.ClockNamespace;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.UserNamespace;

/** Time namespaces that the job has made; the restart of mounts makes them, too. */
public final class ClockNamespaceKind implements ObjectKind<ClockNamespace> {
    @Override
    public Class<ClockNamespace> record() {
        return ClockNamespace.class;
    }

    @Override
    public String shown(ClockNamespace one) {
        return one.monotonicNs() + " ns ahead";
    }

    @Override
    public void check(ClockNamespace one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(one.userOwner() == 0 || image.is(one.userOwner(), UserNamespace.class),
                "userOwner %d is no user namespace", one.userOwner());
    }
}
