package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.HostNames;
import org.udckpt.process.model.HostNamesMember;
import org.udckpt.process.model.RowCheck;

/** Which process is in which UTS namespace. */
public final class HostNamesMemberKind implements ObjectKind<HostNamesMember> {
    @Override
    public Class<HostNamesMember> record() {
        return HostNamesMember.class;
    }

    @Override
    public String shown(HostNamesMember one) {
        return "process " + one.pid() + " in namespace " + one.hostSpace();
    }

    @Override
    public void check(HostNamesMember one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(one.pid()), "there is no process %d", one.pid());
        row.require(image.is(one.hostSpace(), HostNames.class), "hostSpace %d is none", one.hostSpace());
    }
}
