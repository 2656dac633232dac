package org.udckpt.process.kinds.mount;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobMount;
import org.udckpt.process.model.NamespaceMember;
import org.udckpt.process.model.RowCheck;

/** Which process is in which mount namespace. */
public final class NamespaceMemberKind implements ObjectKind<NamespaceMember> {
    @Override
    public Class<NamespaceMember> record() {
        return NamespaceMember.class;
    }

    @Override
    public String shown(NamespaceMember one) {
        return "process " + one.pid() + " in namespace " + one.tree();
    }

    @Override
    public void check(NamespaceMember one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(one.pid()), "there is no process %d", one.pid());
        row.require(image.image().objects().stream().anyMatch(other -> other instanceof JobMount mount
                && mount.tree() == one.tree() && mount.tree() != 0), "namespace %d has no mounts", one.tree());
    }
}
