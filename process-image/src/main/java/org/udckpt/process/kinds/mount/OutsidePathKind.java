package org.udckpt.process.kinds.mount;

import java.util.function.UnaryOperator;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.OutsidePath;
import org.udckpt.process.model.RowCheck;

/** Paths from before a process was in its mount namespace. */
public final class OutsidePathKind implements ObjectKind<OutsidePath> {
    @Override
    public Class<OutsidePath> record() {
        return OutsidePath.class;
    }

    @Override
    public String shown(OutsidePath one) {
        return one.path();
    }

    @Override
    public OutsidePath moved(OutsidePath one, UnaryOperator<String> moves) {
        return new OutsidePath(one.id(), one.tree(), moves.apply(one.path()), one.open());
    }

    @Override
    public void check(OutsidePath one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.between(1, MountTrees.MOST, "tree", one.tree());
        row.absolute("path", one.path());
        row.require(one.open() == 0 || image.isOpen(one.open()), "object %d has no descriptor", one.open());
    }
}
