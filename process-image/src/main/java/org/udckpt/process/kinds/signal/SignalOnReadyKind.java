package org.udckpt.process.kinds.signal;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Open files that send signals when they are ready (O_ASYNC). */
public final class SignalOnReadyKind implements ObjectKind<SignalOnReady> {
    @Override
    public Class<SignalOnReady> record() {
        return SignalOnReady.class;
    }

    @Override
    public String shown(SignalOnReady signals) {
        return "";
    }

    @Override
    public void check(SignalOnReady signals, RowCheck row, CheckedImage image) throws BrokenTable {
        image.receiver(row, signals.object(), signals.type(), signals.receiver(), signals.signal());
    }

    @Override
    public KindRestore<SignalOnReady> restore(RestoreScope scope) {
        return new SignalOnReadyRestore(scope);
    }
}
