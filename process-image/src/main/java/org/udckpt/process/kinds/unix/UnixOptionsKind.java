package org.udckpt.process.kinds.unix;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Options of a unix socket: captured and restored with it. */
public final class UnixOptionsKind implements ObjectKind<UnixOptions> {
    @Override
    public Class<UnixOptions> record() {
        return UnixOptions.class;
    }

    @Override
    public String shown(UnixOptions changed) {
        return changed.options().length / 3 + " options";
    }

    @Override
    public void check(UnixOptions changed, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.is(changed.object(), UnixSocket.class), "object %d is not a unix socket", changed.object());
        row.options(changed.options());
    }
}
