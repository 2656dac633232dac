package org.udckpt.process.kinds.file;

import java.util.function.UnaryOperator;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.RowCheck;

/** Names of open files that were removed, which /proc still shows; read and made with the files. */
public final class FormerNameKind implements ObjectKind<FormerName> {
    @Override
    public Class<FormerName> record() {
        return FormerName.class;
    }

    @Override
    public String shown(FormerName name) {
        return name.path();
    }

    @Override
    public FormerName moved(FormerName name, UnaryOperator<String> moves) {
        return new FormerName(name.id(), name.object(), moves.apply(name.path()));
    }

    @Override
    public void check(FormerName name, RowCheck row, CheckedImage image) throws BrokenTable {
        row.path("path", name.path());
        row.require(image.is(name.object(), OpenFile.class), "object %d is not an open file", name.object());
    }
}
