package org.udckpt.process.kinds.filter;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ClassicBpf;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Filters of sockets of all kinds. */
public final class SocketFilterKind implements ObjectKind<SocketFilter> {
    @Override
    public Class<SocketFilter> record() {
        return SocketFilter.class;
    }

    @Override
    public String shown(SocketFilter filter) {
        return filter.program().length / ClassicBpf.INSTRUCTION + " instructions";
    }

    @Override
    public void check(SocketFilter filter, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.isOpen(filter.object()), "object %d has no descriptor", filter.object());
        ClassicBpf.check(row, filter.program(), 1);
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new SocketFilterCapture(scope);
    }

    @Override
    public KindRestore<SocketFilter> restore(RestoreScope scope) {
        return new SocketFilterRestore(scope);
    }
}
