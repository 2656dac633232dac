package org.udckpt.process.kinds.signal;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Open files whose signals have a receiver (F_SETOWN), and are not sent when they are ready. */
public final class SignalOwnerKind implements ObjectKind<SignalOwner> {
    @Override
    public Class<SignalOwner> record() {
        return SignalOwner.class;
    }

    @Override
    public String shown(SignalOwner owner) {
        return "";
    }

    @Override
    public void check(SignalOwner owner, RowCheck row, CheckedImage image) throws BrokenTable {
        image.receiver(row, owner.object(), owner.type(), owner.receiver(), owner.signal());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new SignalCapture(scope);
    }

    @Override
    public KindRestore<SignalOwner> restore(RestoreScope scope) {
        return new SignalOwnerRestore(scope);
    }
}
