package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.UserNamespace;
import org.udckpt.process.model.UserNamespaceMember;

/** Which process is in which user namespace. */
public final class UserNamespaceMemberKind implements ObjectKind<UserNamespaceMember> {
    @Override
    public Class<UserNamespaceMember> record() {
        return UserNamespaceMember.class;
    }

    @Override
    public String shown(UserNamespaceMember one) {
        return "process " + one.pid() + " in namespace " + one.userNamespace();
    }

    @Override
    public void check(UserNamespaceMember one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(one.pid()), "there is no process %d", one.pid());
        row.require(image.is(one.userNamespace(), UserNamespace.class), "userNamespace %d is none",
                one.userNamespace());
    }
}
