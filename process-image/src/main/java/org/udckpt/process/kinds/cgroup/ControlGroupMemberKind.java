package org.udckpt.process.kinds.cgroup;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Who is in a control group. */
public final class ControlGroupMemberKind implements ObjectKind<ControlGroupMember> {
    @Override
    public Class<ControlGroupMember> record() {
        return ControlGroupMember.class;
    }

    @Override
    public String shown(ControlGroupMember one) {
        return "thread " + one.tid() + " in group " + one.group();
    }

    @Override
    public void check(ControlGroupMember one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.is(one.group(), ControlGroup.class), "group %d is none", one.group());
        row.require(image.image().threads().stream()
                .anyMatch(thread -> thread.pid() == one.pid() && thread.tid() == one.tid()),
                "tid %d is not a thread of its process", one.tid());
    }
}
