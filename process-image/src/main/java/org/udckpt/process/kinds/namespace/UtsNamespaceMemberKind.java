package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.UtsNamespace;
import org.udckpt.process.model.UtsNamespaceMember;

/** Which process is in which UTS namespace. */
public final class UtsNamespaceMemberKind implements ObjectKind<UtsNamespaceMember> {
    @Override
    public Class<UtsNamespaceMember> record() {
        return UtsNamespaceMember.class;
    }

    @Override
    public String shown(UtsNamespaceMember one) {
        return "process " + one.pid() + " in namespace " + one.utsNamespace();
    }

    @Override
    public void check(UtsNamespaceMember one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(one.pid()), "there is no process %d", one.pid());
        row.require(image.is(one.utsNamespace(), UtsNamespace.class), "utsNamespace %d is none", one.utsNamespace());
    }
}
