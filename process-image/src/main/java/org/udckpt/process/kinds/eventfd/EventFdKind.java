package org.udckpt.process.kinds.eventfd;

import org.udckpt.process.kinds.base.AnonymousCapture;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.RowCheck;

/** Event counters (eventfd(2)): the count, and whether it is a semaphore. */
public final class EventFdKind implements DescriptorKind<EventFd> {
    @Override
    public Class<EventFd> record() {
        return EventFd.class;
    }

    @Override
    public String shown(EventFd event) {
        return "";
    }

    @Override
    public void check(EventFd event, RowCheck row, CheckedImage image) {
        // Any count can be.
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new AnonymousCapture("anon_inode:[eventfd]", scope, EventFdCapture::read);
    }

    @Override
    public KindRestore<EventFd> restore(RestoreScope scope) {
        return new EventFdRestore();
    }
}
