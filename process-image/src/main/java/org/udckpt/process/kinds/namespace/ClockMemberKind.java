package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.ClockMember;
import org.udckpt.process.model.ClockNamespace;
import org.udckpt.process.model.RowCheck;

/** Which process is in which time namespace. */
public final class ClockMemberKind implements ObjectKind<ClockMember> {
    @Override
    public Class<ClockMember> record() {
        return ClockMember.class;
    }

    @Override
    public String shown(ClockMember one) {
        return "process " + one.pid() + " in namespace " + one.clockSpace();
    }

    @Override
    public void check(ClockMember one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(one.pid()), "there is no process %d", one.pid());
        row.require(image.is(one.clockSpace(), ClockNamespace.class), "clockSpace %d is none", one.clockSpace());
    }
}
