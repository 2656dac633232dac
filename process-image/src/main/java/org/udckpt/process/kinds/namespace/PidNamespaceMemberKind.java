package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.PidNamespace;
import org.udckpt.process.model.PidNamespaceMember;
import org.udckpt.process.model.RowCheck;

/** What a pid namespace numbers how. */
public final class PidNamespaceMemberKind implements ObjectKind<PidNamespaceMember> {
    @Override
    public Class<PidNamespaceMember> record() {
        return PidNamespaceMember.class;
    }

    @Override
    public String shown(PidNamespaceMember one) {
        return one.inner() == 0 ? "children of " + one.pid() + " in namespace " + one.pidNamespace()
                : one.pid() + " is " + one.inner() + " in namespace " + one.pidNamespace();
    }

    @Override
    public void check(PidNamespaceMember one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.between(1, Integer.MAX_VALUE, "pid", one.pid());
        row.notNegative("inner", one.inner());
        row.require(image.is(one.pidNamespace(), PidNamespace.class), "pidNamespace %d is none", one.pidNamespace());
        row.require(one.inner() != 0 || image.process(one.pid()), "there is no process %d", one.pid());
    }
}
