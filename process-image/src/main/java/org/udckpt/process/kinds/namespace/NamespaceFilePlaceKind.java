package org.udckpt.process.kinds.namespace;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Whose namespaces are open. */
public final class NamespaceFilePlaceKind implements ObjectKind<NamespaceFilePlace> {
    @Override
    public Class<NamespaceFilePlace> record() {
        return NamespaceFilePlace.class;
    }

    @Override
    public String shown(NamespaceFilePlace one) {
        return "file " + one.namespaceFile() + " of process " + one.pid();
    }

    @Override
    public void check(NamespaceFilePlace one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(one.pid()), "there is no process %d", one.pid());
        row.require(image.is(one.namespaceFile(), NamespaceFile.class), "namespaceFile %d is none",
                one.namespaceFile());
    }
}
