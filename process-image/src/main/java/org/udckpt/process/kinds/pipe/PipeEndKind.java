package org.udckpt.process.kinds.pipe;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** An end of a pipe or FIFO (pipe(7), fifo(7)). */
public final class PipeEndKind implements DescriptorKind<PipeEnd> {
    @Override
    public Class<PipeEnd> record() {
        return PipeEnd.class;
    }

    @Override
    public String shown(PipeEnd end) {
        return end.writeEnd() ? "writing" : "reading";
    }

    @Override
    public void check(PipeEnd end, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.is(end.pipe(), Pipe.class), "pipe %d is not the id of a pipe", end.pipe());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new PipeCapture(scope);
    }

    @Override
    public KindRestore<PipeEnd> restore(RestoreScope scope) {
        return new PipeRestore(scope);
    }
}
