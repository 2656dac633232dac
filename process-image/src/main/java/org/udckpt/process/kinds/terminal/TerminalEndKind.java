package org.udckpt.process.kinds.terminal;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.TerminalObject.Terminal;
import org.udckpt.process.model.TerminalObject.TerminalEnd;

/** An open end of a pseudo-terminal. */
public final class TerminalEndKind implements DescriptorKind<TerminalEnd> {
    @Override
    public Class<TerminalEnd> record() {
        return TerminalEnd.class;
    }

    @Override
    public String shown(TerminalEnd end) {
        return end.master() ? "master" : "slave";
    }

    @Override
    public void check(TerminalEnd end, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(end.terminal() == 0 && !end.master() || image.is(end.terminal(), Terminal.class),
                "terminal %d is not the id of a terminal", end.terminal());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new TerminalCapture(scope);
    }

    /** {@link TerminalRestore} is there before: sessions have their terminals before their processes have children. */
    @Override
    public KindRestore<TerminalEnd> restore(RestoreScope scope) {
        return KindRestore.none();
    }
}
