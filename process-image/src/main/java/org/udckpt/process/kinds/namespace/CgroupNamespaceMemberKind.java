package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.CgroupNamespace;
import org.udckpt.process.model.CgroupNamespaceMember;
import org.udckpt.process.model.RowCheck;

/** Which process is in which control group namespace. */
public final class CgroupNamespaceMemberKind implements ObjectKind<CgroupNamespaceMember> {
    @Override
    public Class<CgroupNamespaceMember> record() {
        return CgroupNamespaceMember.class;
    }

    @Override
    public String shown(CgroupNamespaceMember one) {
        return "process " + one.pid() + " in namespace " + one.cgroupNamespace();
    }

    @Override
    public void check(CgroupNamespaceMember one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(one.pid()), "there is no process %d", one.pid());
        row.require(image.is(one.cgroupNamespace(), CgroupNamespace.class), "cgroupNamespace %d is none",
                one.cgroupNamespace());
    }
}
