package org.udckpt.process.kinds.replaced;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** A standard stream of the job's launcher. */
public final class StandardStreamKind implements DescriptorKind<StandardStream> {
    @Override
    public Class<StandardStream> record() {
        return StandardStream.class;
    }

    @Override
    public String shown(StandardStream stream) {
        return new String[]{"input", "output", "error"}[stream.stream()];
    }

    @Override
    public boolean given() {
        return true;
    }

    @Override
    public void check(StandardStream stream, RowCheck row, CheckedImage image) throws BrokenTable {
        row.between(0, 2, "stream", stream.stream());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new ReplacedCapture(scope, open -> scope.stream(open) >= 0,
                (open, id) -> new StandardStream(id, scope.stream(open), open.openFlags()));
    }

    @Override
    public KindRestore<StandardStream> restore(RestoreScope scope) {
        return new StandardStreamRestore(scope);
    }
}
