package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.UtsNames;
import org.udckpt.process.model.UtsNamesMember;

/** Which process is in which UTS namespace. */
public final class UtsNamesMemberKind implements ObjectKind<UtsNamesMember> {
    @Override
    public Class<UtsNamesMember> record() {
        return UtsNamesMember.class;
    }

    @Override
    public String shown(UtsNamesMember one) {
        return "process " + one.pid() + " in namespace " + one.hostSpace();
    }

    @Override
    public void check(UtsNamesMember one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(one.pid()), "there is no process %d", one.pid());
        row.require(image.is(one.hostSpace(), UtsNames.class), "hostSpace %d is none", one.hostSpace());
    }
}
