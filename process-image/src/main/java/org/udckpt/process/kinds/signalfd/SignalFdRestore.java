package org.udckpt.process.kinds.signalfd;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;

/** Makes signal descriptors. */
final class SignalFdRestore implements KindRestore<SignalFd> {
    @Override
    public long make(Maker maker, SignalFd signals) {
        return maker.call("signalfd4", Syscall.SIGNALFD4, -1, maker.structure().i64(signals.mask()).put(), 8,
                KindRestore.nonBlocking(signals.flags()));
    }

    @Override
    public int flags(SignalFd signals) {
        return signals.flags();
    }
}
