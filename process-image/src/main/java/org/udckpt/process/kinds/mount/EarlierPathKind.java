package org.udckpt.process.kinds.mount;

import java.util.function.UnaryOperator;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.EarlierPath;
import org.udckpt.process.model.RowCheck;

/** What processes have of before they were in their mount namespaces. */
public final class EarlierPathKind implements ObjectKind<EarlierPath> {
    @Override
    public Class<EarlierPath> record() {
        return EarlierPath.class;
    }

    @Override
    public String shown(EarlierPath one) {
        return one.path() + " of process " + one.pid();
    }

    @Override
    public EarlierPath moved(EarlierPath one, UnaryOperator<String> moves) {
        return new EarlierPath(one.id(), one.pid(), moves.apply(one.path()));
    }

    @Override
    public void check(EarlierPath one, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.process(one.pid()), "there is no process %d", one.pid());
        row.absolute("path", one.path());
    }
}
