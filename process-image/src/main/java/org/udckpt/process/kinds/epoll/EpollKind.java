package org.udckpt.process.kinds.epoll;

import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.RowCheck;

/** Epoll descriptors (epoll(7)); what one watches is an {@link EpollEntry} each. */
public final class EpollKind implements DescriptorKind<Epoll> {
    @Override
    public Class<Epoll> record() {
        return Epoll.class;
    }

    @Override
    public String shown(Epoll epoll) {
        return "";
    }

    @Override
    public void check(Epoll epoll, RowCheck row, CheckedImage image) {
        // Its entries refer to it.
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new EpollCapture(scope);
    }

    @Override
    public KindRestore<Epoll> restore(RestoreScope scope) {
        return new EpollRestore(scope);
    }
}
