package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.NamespaceOwner;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.UserNamespace;

/** Which user namespace owns which mount namespace. */
public final class NamespaceOwnerKind implements ObjectKind<NamespaceOwner> {
    @Override
    public Class<NamespaceOwner> record() {
        return NamespaceOwner.class;
    }

    @Override
    public String shown(NamespaceOwner one) {
        return "namespace " + one.tree() + " of " + one.userOwner();
    }

    @Override
    public void check(NamespaceOwner one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.between(1, Integer.MAX_VALUE, "tree", one.tree());
        row.require(image.is(one.userOwner(), UserNamespace.class), "userOwner %d is no user namespace",
                one.userOwner());
    }
}
