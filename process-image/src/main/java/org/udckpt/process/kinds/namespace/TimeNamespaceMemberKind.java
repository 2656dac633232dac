package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.TimeNamespace;
import org.udckpt.process.model.TimeNamespaceMember;

/** Which process is in which time namespace. */
public final class TimeNamespaceMemberKind implements ObjectKind<TimeNamespaceMember> {
    @Override
    public Class<TimeNamespaceMember> record() {
        return TimeNamespaceMember.class;
    }

    @Override
    public String shown(TimeNamespaceMember one) {
        return "process " + one.pid() + " in namespace " + one.timeNamespace();
    }

    @Override
    public void check(TimeNamespaceMember one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(one.pid()), "there is no process %d", one.pid());
        row.require(image.is(one.timeNamespace(), TimeNamespace.class), "timeNamespace %d is none",
                one.timeNamespace());
    }
}
