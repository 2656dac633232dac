package org.udckpt.process.kinds.signalfd;

import org.udckpt.process.kinds.base.AnonymousCapture;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.RowCheck;

/**
 * Descriptors by which signals are read (signalfd(2)): the mask. The signals themselves wait at processes and threads.
 */
public final class SignalFdKind implements DescriptorKind<SignalFd> {
    @Override
    public Class<SignalFd> record() {
        return SignalFd.class;
    }

    @Override
    public String shown(SignalFd signals) {
        return "mask 0x%x".formatted(signals.mask());
    }

    @Override
    public void check(SignalFd signals, RowCheck row, CheckedImage image) {
        // Any mask can be.
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new AnonymousCapture("anon_inode:[signalfd]", scope,
                (open, id) -> new SignalFd(id, open.openFlags(), open.number("sigmask:", 16)));
    }

    @Override
    public KindRestore<SignalFd> restore(RestoreScope scope) {
        return new SignalFdRestore();
    }
}
