package org.udckpt.process.kinds.eventfd;

import static org.udckpt.linux.LinuxConstants.F_SETSIG;

import org.udckpt.layout.Layout;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;

/** Makes event counters. */
final class EventFdRestore implements KindRestore<EventFd> {
    private static final int EFD_SEMAPHORE = 1;

    @Override
    public long make(Maker maker, EventFd event) {
        long fd = maker.call("eventfd2", Syscall.EVENTFD2, 0,
                KindRestore.nonBlocking(event.flags()) | (event.semaphore() ? EFD_SEMAPHORE : 0));
        if (event.count() != 0) { // the initial value has 32 bits, the counter 64
            maker.call("set an eventfd", Syscall.WRITE, fd, maker.structure().i64(event.count()).put(), 8);
        }
        if (event.semaphore()) { // as the library does, for the next checkpoint on a kernel before 6.5
            maker.call("mark an eventfd", Syscall.FCNTL, fd, F_SETSIG, Layout.EVENTFD_SEMAPHORE_MARK);
        }
        return fd;
    }

    @Override
    public int flags(EventFd event) {
        return event.flags();
    }
}
