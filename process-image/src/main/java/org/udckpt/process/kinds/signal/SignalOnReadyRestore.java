package org.udckpt.process.kinds.signal;

import static org.udckpt.linux.LinuxConstants.F_SETFL;
import static org.udckpt.linux.LinuxConstants.O_ASYNC;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.Descriptor;

/** Sets O_ASYNC again, when the restore writes no more: what it writes, signals nobody. */
final class SignalOnReadyRestore implements KindRestore<SignalOnReady> {
    private static final int F_GETFL = 3;

    private final RestoreScope scope;

    SignalOnReadyRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public void placed() {
        scope.objects(SignalOnReady.class).forEach(this::set);
    }

    private void set(SignalOnReady signals) {
        Descriptor any = scope.descriptor(signals.object());
        Maker maker = scope.process(any.pid());
        SignalReceiver.set(scope, maker, any.fd(), signals.signal(), signals.type(), signals.receiver());
        long flags = maker.call("F_GETFL", Syscall.FCNTL, any.fd(), F_GETFL, 0);
        maker.call("set O_ASYNC", Syscall.FCNTL, any.fd(), F_SETFL, flags | O_ASYNC);
    }
}
